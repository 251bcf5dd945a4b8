//! Recorded requests as far as a price simulation needs them.

use domain::{Amount, KeyId, Outcome, ProjectId, RequestId, TargetId, TenantId, Usage};
use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::{Error, Reach};

/// What a request used and cost.
#[derive(Debug, Clone)]
pub struct Used {
    /// The request.
    pub request_id: RequestId,
    /// Whose.
    pub tenant_id: TenantId,
    /// Of which project.
    pub project_id: ProjectId,
    /// By which key.
    pub key_id: KeyId,
    /// The model whose price it was charged at.
    pub model: String,
    /// How it ended.
    pub outcome: Outcome,
    /// The tenant's factor on every price, as it is now.
    pub multiplier: String,
    /// The target that served.
    pub target: Option<TargetId>,
    /// What was used.
    pub usage: Usage,
    /// What was charged, late corrections included.
    pub charge: Amount,
}

/// Requests of tenants metered in credits that began from `from` on and before `to`, in the order of their ids; those after
/// `after`, at most `limit`.
///
/// # Errors
/// Those of Postgres, or a stored value that can't be read.
pub async fn page(
    conn: &mut PgConnection,
    (from, to): (OffsetDateTime, OffsetDateTime),
    after: Option<RequestId>,
    limit: i64,
    reach: &Reach,
) -> Result<Vec<Used>, Error> {
    let within = reach.ids();
    let rows = sqlx::query!(
        r#"SELECT u.request_id, u.tenant_id, u.project_id, u.key_id, u.model, u.outcome, t.multiplier::text AS "multiplier!", u.usage,
                  u.attempts -> -1 ->> 'target' AS target,
                  (SELECT coalesce(sum(s.amount), 0)::bigint FROM settlements s WHERE s.request_id = u.request_id) AS "charge!"
           FROM usage_records u JOIN tenants t ON t.id = u.tenant_id
           WHERE u.request_id >= uuid_v7_floor($1) AND u.request_id < uuid_v7_floor($2) AND ($3::uuid IS NULL OR u.request_id > $3)
             AND t.unit = 'credit' AND ($4::uuid[] IS NULL OR u.tenant_id = ANY ($4))
           ORDER BY u.request_id LIMIT $5"#,
        from,
        to,
        after.map(RequestId::uuid),
        within.as_deref(),
        limit,
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Used {
                request_id: RequestId::from_uuid(row.request_id),
                tenant_id: TenantId::from_uuid(row.tenant_id),
                project_id: ProjectId::from_uuid(row.project_id),
                key_id: KeyId::from_uuid(row.key_id),
                model: row.model,
                outcome: Outcome::parse(&row.outcome)
                    .ok_or_else(|| Error::corrupt("usage_records.outcome", &row.outcome))?,
                multiplier: row.multiplier,
                target: row.target.and_then(|text| text.parse().ok()),
                usage: serde_json::from_value(row.usage).map_err(|why| Error::corrupt("usage_records.usage", why))?,
                charge: Amount::new(row.charge).map_err(|why| Error::corrupt("settlements.amount", why))?,
            })
        })
        .collect()
}

/// The factors of targets that exist.
///
/// # Errors
/// Those of Postgres.
pub async fn multipliers(conn: &mut PgConnection) -> Result<Vec<(TargetId, String)>, Error> {
    let rows = sqlx::query!(r#"SELECT id, multiplier::text AS "multiplier!" FROM targets"#).fetch_all(conn).await?;
    Ok(rows.into_iter().map(|row| (TargetId::from_uuid(row.id), row.multiplier)).collect())
}
