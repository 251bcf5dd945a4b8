//! Thresholds: percent used of a scope's total at which its people are warned.
//!
//! Each crossing is told once: the account keeps the highest one crossed, under its lock, and only a top-up or a new period
//! (an account of its own, or the tenant's next grant) arms it again. A correction downwards does not. A project's soft budget
//! is told once in each period of its budget.

use domain::ids::EventId;
use domain::{PeriodLabel, Scope};
use serde_json::json;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Error;

/// A threshold that an account has crossed.
struct Crossing {
    scope: String,
    tenant_id: Uuid,
    level: String,
    version: i64,
    total: i64,
    used: i64,
    percent: i16,
}

/// Writes an event for each threshold that the accounts have crossed and that was armed, and for each soft budget that was
/// reached. The caller holds their locks.
pub(crate) async fn cross(conn: &mut PgConnection, scopes: &[String]) -> Result<(), Error> {
    let crossings = sqlx::query_as!(
        Crossing,
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
    tell(conn, "quota.low", &crossings).await?;
    remember(conn, &crossings).await?;
    let reached = reach(conn, scopes).await?;
    tell(conn, "budget.soft_reached", &reached).await
}

/// Marks the projects' accounts whose soft budget is reached and was not told yet: once for each account, which is a period's.
async fn reach(conn: &mut PgConnection, scopes: &[String]) -> Result<Vec<Crossing>, Error> {
    let in_periods = scopes.iter().filter_map(|name| match name.parse() {
        Ok(Scope::Project(id, label)) if label != PeriodLabel::none() => Some((name.clone(), id.uuid())),
        _ => None,
    });
    let (names, projects): (Vec<String>, Vec<Uuid>) = in_periods.unzip();
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let reached = sqlx::query_as!(
        Crossing,
        r#"UPDATE accounts a SET soft_reached = true
           FROM unnest($1::text[], $2::uuid[]) AS x (scope, project) JOIN projects p ON p.id = x.project
           WHERE a.scope = x.scope AND NOT a.soft_reached AND a.total > 0 AND p.soft_budget IS NOT NULL
             AND a.used::numeric * 100 >= a.total::numeric * (p.soft_budget ->> 'percent')::numeric
           RETURNING a.scope, a.tenant_id, a.level, a.version, a.total AS "total!: i64", a.used AS "used!: i64",
                     (p.soft_budget ->> 'percent')::smallint AS "percent!""#,
        &names,
        &projects
    );
    Ok(reached.fetch_all(conn).await?)
}

async fn tell(conn: &mut PgConnection, kind: &str, crossings: &[Crossing]) -> Result<(), Error> {
    if crossings.is_empty() {
        return Ok(());
    }
    let (mut ids, mut tenants, mut names, mut data) = (vec![], vec![], vec![], vec![]);
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
        names.push(row.scope.clone());
    }
    sqlx::query!(
        "INSERT INTO outbox (event_id, type, tenant_id, scope, data)
         SELECT i, $5, t, s, d FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::jsonb[]) AS x (i, t, s, d)",
        &ids,
        &tenants,
        &names,
        &data,
        kind
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Keeps the highest threshold crossed of each account.
async fn remember(conn: &mut PgConnection, crossings: &[Crossing]) -> Result<(), Error> {
    if crossings.is_empty() {
        return Ok(());
    }
    let scopes: Vec<String> = crossings.iter().map(|crossing| crossing.scope.clone()).collect();
    let percents: Vec<i16> = crossings.iter().map(|crossing| crossing.percent).collect();
    sqlx::query!(
        "UPDATE accounts SET crossed = x.percent
         FROM (SELECT s, max(p) AS percent FROM unnest($1::text[], $2::smallint[]) AS u (s, p) GROUP BY s) x WHERE scope = x.s",
        &scopes,
        &percents
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
