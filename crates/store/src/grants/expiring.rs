//! Grants that end soon are told once.

use domain::ids::EventId;
use domain::{GrantId, TenantId};
use serde_json::json;
use sqlx::PgConnection;

use crate::{Error, instant};

/// Tells of grants that end within three days (of short ones: within the half of their life), have something left, and are
/// not the present one of a plan that renews. Each once. Returns how many. Call it in a transaction.
///
/// # Errors
/// Those of Postgres.
pub async fn tell(conn: &mut PgConnection, limit: i64) -> Result<usize, Error> {
    let rows = sqlx::query!(
        r#"WITH due AS (
               SELECT grant_id FROM grant_balances b
               WHERE b.status = 'in_force' AND NOT b.expiry_told AND b.ends_at <= now() + interval '3 days'
                 AND b.ends_at > now() AND b.ends_at - (b.ends_at - b.starts_at) / 2 <= now() AND b.used < b.amount
                 AND NOT (b.kind = 'plan' AND EXISTS (SELECT FROM plans p WHERE p.tenant_id = b.tenant_id))
               ORDER BY b.ends_at LIMIT $1 FOR UPDATE SKIP LOCKED
           )
           UPDATE grant_balances b SET expiry_told = true FROM due WHERE b.grant_id = due.grant_id
           RETURNING b.grant_id, b.tenant_id, b.kind, b.amount AS "amount!: i64", b.used AS "used!: i64", b.ends_at AS "ends_at!""#,
        limit
    )
    .fetch_all(&mut *conn)
    .await?;
    let (mut ids, mut tenants, mut all) = (vec![], vec![], vec![]);
    for row in &rows {
        ids.push(EventId::generate().uuid());
        tenants.push(row.tenant_id);
        all.push(json!({
            "tenant_id": TenantId::from_uuid(row.tenant_id),
            "grant_id": GrantId::from_uuid(row.grant_id),
            "kind": row.kind,
            "amount": row.amount.to_string(),
            "remaining": (row.amount - row.used).to_string(),
            "ends_at": instant::read("grant_balances.ends_at", row.ends_at)?.to_string(),
        }));
    }
    if !rows.is_empty() {
        sqlx::query!(
            "INSERT INTO outbox (event_id, type, tenant_id, data)
             SELECT i, 'grant.expiring', t, d FROM unnest($1::uuid[], $2::uuid[], $3::jsonb[]) AS x (i, t, d)",
            &ids,
            &tenants,
            &all
        )
        .execute(conn)
        .await?;
    }
    Ok(rows.len())
}
