//! Sums of usage, read from `usage_quarters`, which the database keeps in the transactions that record.

use domain::{KeyId, ProjectId, TenantId};
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{Error, Reach};

/// Which usage, and what it is summed by.
#[derive(Debug, Clone, Default)]
pub struct Ask {
    /// The first instants of the buckets and, last, the first instant after them; all full quarters of an hour.
    pub bounds: Vec<OffsetDateTime>,
    /// Of this tenant.
    pub tenant_id: Option<TenantId>,
    /// Of this project.
    pub project_id: Option<ProjectId>,
    /// Of this key.
    pub key_id: Option<KeyId>,
    /// That asked for this model.
    pub model: Option<String>,
    /// One row per tenant.
    pub by_tenant: bool,
    /// One row per project.
    pub by_project: bool,
    /// One row per key.
    pub by_key: bool,
    /// One row per model.
    pub by_model: bool,
    /// Rows to leave out at the beginning.
    pub offset: i64,
    /// Rows at most.
    pub limit: i64,
}

/// What was used in one bucket by one of what was asked by.
#[derive(Debug, Clone)]
pub struct Sum {
    /// Index of the bucket, from 1 on.
    pub bucket: i32,
    /// The tenant, where asked by it.
    pub tenant_id: Option<Uuid>,
    /// The project, where asked by it.
    pub project_id: Option<Uuid>,
    /// The key, where asked by it.
    pub key_id: Option<Uuid>,
    /// The model, where asked by it.
    pub model: Option<String>,
    /// `credit` or `token`: sums of both are kept apart.
    pub unit: String,
    /// Requests that were recorded.
    pub requests: i64,
    /// Requests that were not admitted.
    pub refused: i64,
    /// Prompt tokens.
    pub prompt_tokens: i64,
    /// Of them, read from a cache.
    pub cached_tokens: i64,
    /// Answer tokens.
    pub completion_tokens: i64,
    /// Charged, in units.
    pub charge: String,
    /// Set aside and given back without a charge, in units.
    pub refunded: String,
    /// Requests whose tokens were counted here.
    pub estimated: i64,
}

/// Sums by bucket, then tenant, project, key and model; what has no usage has no row.
///
/// # Errors
/// Those of Postgres.
pub async fn sums(conn: &mut PgConnection, ask: &Ask, reach: &Reach) -> Result<Vec<Sum>, Error> {
    let within = reach.ids();
    let rows = sqlx::query_as!(
        Sum,
        r#"SELECT width_bucket(q.quarter, $1::timestamptz[]) AS "bucket!", CASE WHEN $2 THEN q.tenant_id END AS tenant_id,
                  CASE WHEN $3 THEN q.project_id END AS project_id, CASE WHEN $4 THEN q.key_id END AS key_id,
                  CASE WHEN $5 THEN q.model END AS model, t.unit,
                  least(sum(q.requests), 9007199254740991)::bigint AS "requests!",
                  least(sum(q.refused), 9007199254740991)::bigint AS "refused!",
                  least(sum(q.prompt_tokens), 9007199254740991)::bigint AS "prompt_tokens!",
                  least(sum(q.cached_tokens), 9007199254740991)::bigint AS "cached_tokens!",
                  least(sum(q.completion_tokens), 9007199254740991)::bigint AS "completion_tokens!",
                  sum(q.charge)::text AS "charge!", sum(q.refunded)::text AS "refunded!",
                  least(sum(q.estimated), 9007199254740991)::bigint AS "estimated!"
           FROM (SELECT tenant_id, quarter, project_id, key_id, model, requests, 0::bigint AS refused, prompt_tokens,
                        cached_tokens, completion_tokens, charge, refunded, estimated FROM usage_quarters
                 UNION ALL
                 SELECT tenant_id, quarter, project_id, key_id, model, 0, requests, 0, 0, 0, 0, 0, 0 FROM refused_quarters) q
           JOIN tenants t ON t.id = q.tenant_id
           WHERE q.quarter >= $6 AND q.quarter < $7
             AND ($8::uuid[] IS NULL OR q.tenant_id = ANY ($8)) AND ($9::uuid IS NULL OR q.tenant_id = $9)
             AND ($10::uuid IS NULL OR q.project_id = $10) AND ($11::uuid IS NULL OR q.key_id = $11)
             AND ($12::text IS NULL OR q.model = $12)
           GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6 OFFSET $13 LIMIT $14"#,
        &ask.bounds,
        ask.by_tenant,
        ask.by_project,
        ask.by_key,
        ask.by_model,
        ask.bounds.first().copied().unwrap_or(OffsetDateTime::UNIX_EPOCH),
        ask.bounds.last().copied().unwrap_or(OffsetDateTime::UNIX_EPOCH),
        within.as_deref(),
        ask.tenant_id.map(TenantId::uuid),
        ask.project_id.map(ProjectId::uuid),
        ask.key_id.map(KeyId::uuid),
        ask.model,
        ask.offset,
        ask.limit,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows)
}

/// A request that was not admitted.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Refusal {
    /// Whose.
    pub tenant_id: TenantId,
    /// Of which project.
    pub project_id: ProjectId,
    /// By which key.
    pub key_id: KeyId,
    /// Which model it asked for.
    pub model: String,
    /// The limit, such as `quota` or `rpm`; `inactive`.
    pub reason: String,
}

/// Counts requests that were not admitted, in the present quarter. One row per statement: concurrent gateways never wait for
/// each other in a circle.
///
/// # Errors
/// Those of Postgres; what was counted before it stays counted.
pub async fn refuse(conn: &mut PgConnection, refusal: &Refusal, requests: i64) -> Result<(), Error> {
    sqlx::query!(
        "INSERT INTO refused_quarters AS q (tenant_id, quarter, project_id, key_id, model, reason, requests)
         VALUES ($1, quarter_of(now()), $2, $3, $4, $5, $6)
         ON CONFLICT (tenant_id, quarter, project_id, key_id, model, reason) DO UPDATE SET requests = q.requests + excluded.requests",
        refusal.tenant_id.uuid(),
        refusal.project_id.uuid(),
        refusal.key_id.uuid(),
        refusal.model,
        refusal.reason,
        requests,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// How many requests were refused for which reason since an instant, most first.
///
/// # Errors
/// Those of Postgres.
pub async fn refusals(conn: &mut PgConnection, since: OffsetDateTime) -> Result<Vec<(String, i64)>, Error> {
    let rows = sqlx::query!(
        r#"SELECT reason, sum(requests)::bigint AS "requests!" FROM refused_quarters WHERE quarter >= quarter_of($1)
           GROUP BY reason ORDER BY 2 DESC, 1"#,
        since,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| (row.reason, row.requests)).collect())
}
