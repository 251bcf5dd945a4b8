//! Thresholds: percent used of a scope's total at which its people are warned.
//!
//! Each crossing is told once: the account keeps the highest one crossed, under its lock, and only a top-up or a new period
//! (an account of its own, or the tenant's next grant) arms it again. A correction downwards does not.

use domain::ids::EventId;
use serde_json::{Value, json};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Error;

/// Writes an event for each threshold that the accounts have crossed and that was armed. The caller holds their locks.
pub(crate) async fn cross(conn: &mut PgConnection, scopes: &[String]) -> Result<(), Error> {
    let crossings = sqlx::query!(
        r#"SELECT a.scope, a.tenant_id, a.level, a.version, a.total AS "total!: i64", a.used AS "used!: i64", p.percent AS "percent!"
           FROM accounts a JOIN tenants t ON t.id = a.tenant_id
           CROSS JOIN LATERAL (SELECT value::smallint AS percent
               FROM jsonb_array_elements_text(coalesce(t.settings -> 'thresholds', '[90, 100]'::jsonb))) p
           WHERE a.scope = ANY($1) AND a.total > 0 AND p.percent > a.crossed AND a.used::numeric * 100 >= a.total::numeric * p.percent
           ORDER BY a.scope, p.percent"#,
        scopes
    )
    .fetch_all(&mut *conn)
    .await?;
    if crossings.is_empty() {
        return Ok(());
    }
    let (mut ids, mut tenants, mut names, mut percents, mut data) = (vec![], vec![], vec![], vec![], vec![]);
    for row in crossings {
        let (id, period) = row.scope.split_once(':').unwrap_or((&row.scope, ""));
        data.push(json!({
            "tenant_id": domain::TenantId::from_uuid(row.tenant_id),
            "scope": { "kind": row.level, "id": id, "period": Some(period).filter(|period| !matches!(*period, "" | "-")) },
            "threshold_percent": row.percent,
            "total": row.total.to_string(),
            "used": row.used.to_string(),
            "version": row.version,
        }));
        ids.push(EventId::generate().uuid());
        tenants.push(row.tenant_id);
        names.push(row.scope);
        percents.push(row.percent);
    }
    write(conn, &ids, &tenants, &names, &percents, &data).await
}

async fn write(
    conn: &mut PgConnection,
    ids: &[Uuid],
    tenants: &[Uuid],
    scopes: &[String],
    percents: &[i16],
    data: &[Value],
) -> Result<(), Error> {
    sqlx::query!(
        "INSERT INTO outbox (event_id, type, tenant_id, scope, data)
         SELECT i, 'quota.low', t, s, d FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::jsonb[]) AS x (i, t, s, d)",
        ids,
        tenants,
        scopes,
        data
    )
    .execute(&mut *conn)
    .await?;
    sqlx::query!(
        "UPDATE accounts SET crossed = x.percent
         FROM (SELECT s, max(p) AS percent FROM unnest($1::text[], $2::smallint[]) AS u (s, p) GROUP BY s) x WHERE scope = x.s",
        scopes,
        percents
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Arms the thresholds that a changed total has left behind: those above the percentage now used.
pub(crate) async fn arm(conn: &mut PgConnection, scope: &str) -> Result<(), Error> {
    sqlx::query!(
        "UPDATE accounts SET crossed = least(crossed, CASE WHEN total > 0
             THEN greatest(0, least(1000, floor(used::numeric * 100 / total::numeric)))::smallint ELSE crossed END)
         WHERE scope = $1 AND crossed > 0",
        scope
    )
    .execute(conn)
    .await?;
    Ok(())
}
