//! Requests of the data plane as they were recorded: read only.

use domain::{Amount, GrantId, KeyId, ProjectId, RequestId, TenantId};
use serde_json::Value;
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{Error, Reach};

/// A recorded request.
#[derive(Debug, Clone)]
pub struct Request {
    /// Id.
    pub id: RequestId,
    /// The caller's own id of it.
    pub client_request_id: Option<String>,
    /// Tenant.
    pub tenant_id: TenantId,
    /// `credit` or `token`.
    pub unit: String,
    /// Project.
    pub project_id: ProjectId,
    /// Key.
    pub key_id: KeyId,
    /// The model asked for.
    pub model: String,
    /// The model that answered.
    pub served_model: Option<String>,
    /// `final`, `expired` or `rolled_back`.
    pub outcome: String,
    /// The first estimate.
    pub estimate: Amount,
    /// What was set aside at the end.
    pub frozen: Amount,
    /// How often more was set aside.
    pub extensions: i32,
    /// Tokens by kind.
    pub usage: Value,
    /// The charge: the sum of the request's settlements.
    pub charge: Amount,
    /// The charge's parts by grant.
    pub allocations: Vec<(GrantId, Amount)>,
    /// Each try at an upstream.
    pub attempts: Value,
    /// The upstream's last status.
    pub upstream_status: Option<i32>,
    /// Whether tokens were counted here because the upstream reported none.
    pub estimated: bool,
    /// Whether the charge passed the freeze.
    pub overrun: bool,
    /// Whether a late correction was booked.
    pub late: bool,
    /// When the request came in.
    pub started_at: Option<OffsetDateTime>,
    /// When its quota was set aside.
    pub frozen_at: Option<OffsetDateTime>,
    /// When the first byte of the answer came.
    pub first_byte_at: Option<OffsetDateTime>,
    /// When it ended.
    pub ended_at: Option<OffsetDateTime>,
    /// When it was recorded.
    pub recorded_at: OffsetDateTime,
}

struct Row {
    request_id: Uuid,
    client_request_id: Option<String>,
    tenant_id: Uuid,
    unit: String,
    project_id: Uuid,
    key_id: Uuid,
    model: String,
    served_model: Option<String>,
    outcome: String,
    estimate: i64,
    frozen: i64,
    extensions: i32,
    usage: Value,
    charge: i64,
    attempts: Value,
    upstream_status: Option<i32>,
    estimated: bool,
    overrun: bool,
    late: bool,
    started_at: Option<OffsetDateTime>,
    frozen_at: Option<OffsetDateTime>,
    first_byte_at: Option<OffsetDateTime>,
    ended_at: Option<OffsetDateTime>,
    recorded_at: OffsetDateTime,
}

fn amount(what: &'static str, units: i64) -> Result<Amount, Error> {
    Amount::new(units).map_err(|why| Error::corrupt(what, why))
}

impl TryFrom<Row> for Request {
    type Error = Error;
    fn try_from(row: Row) -> Result<Self, Error> {
        Ok(Self {
            id: RequestId::from_uuid(row.request_id),
            client_request_id: row.client_request_id,
            tenant_id: TenantId::from_uuid(row.tenant_id),
            unit: row.unit,
            project_id: ProjectId::from_uuid(row.project_id),
            key_id: KeyId::from_uuid(row.key_id),
            model: row.model,
            served_model: row.served_model,
            outcome: row.outcome,
            estimate: amount("usage_records.estimate", row.estimate)?,
            frozen: amount("usage_records.frozen", row.frozen)?,
            extensions: row.extensions,
            usage: row.usage,
            charge: amount("settlements.amount", row.charge)?,
            allocations: Vec::new(),
            attempts: row.attempts,
            upstream_status: row.upstream_status,
            estimated: row.estimated,
            overrun: row.overrun,
            late: row.late,
            started_at: row.started_at,
            frozen_at: row.frozen_at,
            first_byte_at: row.first_byte_at,
            ended_at: row.ended_at,
            recorded_at: row.recorded_at,
        })
    }
}

/// Which requests. All conditions hold together; nothing given is every request within reach.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Of this tenant.
    pub tenant_id: Option<TenantId>,
    /// Of this project.
    pub project_id: Option<ProjectId>,
    /// Of this key.
    pub key_id: Option<KeyId>,
    /// That asked for this model.
    pub model: Option<String>,
    /// That ended so.
    pub outcome: Option<String>,
    /// Begun at or after.
    pub from: Option<OffsetDateTime>,
    /// Begun before.
    pub to: Option<OffsetDateTime>,
    /// Charged at least (units).
    pub min_charge: Option<Amount>,
}

/// Lists requests within reach, newest first, below the id `after`.
///
/// # Errors
/// Those of Postgres.
pub async fn list(
    conn: &mut PgConnection,
    filter: &Filter,
    reach: &Reach,
    after: Option<RequestId>,
    limit: i64,
) -> Result<Vec<Request>, Error> {
    let within = reach.ids();
    let rows = sqlx::query_as!(
        Row,
        r#"SELECT u.request_id, u.client_request_id, u.tenant_id, t.unit, u.project_id, u.key_id, u.model, u.served_model,
                  u.outcome, u.estimate AS "estimate: i64", u.frozen AS "frozen: i64", u.extensions, u.usage,
                  s.charge AS "charge!", u.attempts, u.upstream_status, u.estimated, u.overrun, s.late AS "late!",
                  u.started_at, u.frozen_at, u.first_byte_at, u.ended_at, u.recorded_at
           FROM usage_records u
           JOIN tenants t ON t.id = u.tenant_id
           CROSS JOIN LATERAL (
               SELECT coalesce(sum(amount), 0)::bigint AS charge, coalesce(bool_or(kind = 1), false) AS late
               FROM settlements WHERE request_id = u.request_id
           ) s
           WHERE ($1::uuid[] IS NULL OR u.tenant_id = ANY ($1))
             AND ($2::uuid IS NULL OR u.tenant_id = $2)
             AND ($3::uuid IS NULL OR u.project_id = $3 AND u.tenant_id = (SELECT tenant_id FROM projects WHERE id = $3))
             AND ($4::uuid IS NULL OR u.key_id = $4)
             AND ($5::text IS NULL OR u.model = $5)
             AND ($6::text IS NULL OR u.outcome = $6)
             AND ($7::timestamptz IS NULL OR u.request_id >= uuid_v7_floor($7))
             AND ($8::timestamptz IS NULL OR u.request_id < uuid_v7_floor($8))
             AND ($9::bigint IS NULL OR u.actual >= $9)
             AND ($10::uuid IS NULL OR u.request_id < $10)
           ORDER BY u.request_id DESC LIMIT $11"#,
        within.as_deref(),
        filter.tenant_id.map(TenantId::uuid),
        filter.project_id.map(ProjectId::uuid),
        filter.key_id.map(KeyId::uuid),
        filter.model,
        filter.outcome,
        filter.from,
        filter.to,
        filter.min_charge.map(Amount::units),
        after.map(RequestId::uuid),
        limit,
    )
    .fetch_all(&mut *conn)
    .await?;
    let mut requests = rows.into_iter().map(Request::try_from).collect::<Result<Vec<_>, _>>()?;
    add_allocations(conn, &mut requests).await?;
    Ok(requests)
}

/// Reads one request within reach.
///
/// # Errors
/// `NotFound`.
pub async fn get(conn: &mut PgConnection, id: RequestId, reach: &Reach) -> Result<Request, Error> {
    let within = reach.ids();
    let row = sqlx::query_as!(
        Row,
        r#"SELECT u.request_id, u.client_request_id, u.tenant_id, t.unit, u.project_id, u.key_id, u.model, u.served_model,
                  u.outcome, u.estimate AS "estimate: i64", u.frozen AS "frozen: i64", u.extensions, u.usage,
                  s.charge AS "charge!", u.attempts, u.upstream_status, u.estimated, u.overrun, s.late AS "late!",
                  u.started_at, u.frozen_at, u.first_byte_at, u.ended_at, u.recorded_at
           FROM usage_records u
           JOIN tenants t ON t.id = u.tenant_id
           CROSS JOIN LATERAL (
               SELECT coalesce(sum(amount), 0)::bigint AS charge, coalesce(bool_or(kind = 1), false) AS late
               FROM settlements WHERE request_id = u.request_id
           ) s
           WHERE u.request_id = $1 AND ($2::uuid[] IS NULL OR u.tenant_id = ANY ($2))"#,
        id.uuid(),
        within.as_deref(),
    )
    .fetch_one(&mut *conn)
    .await?;
    let mut requests = [Request::try_from(row)?];
    add_allocations(conn, &mut requests).await?;
    let [request] = requests;
    Ok(request)
}

async fn add_allocations(conn: &mut PgConnection, requests: &mut [Request]) -> Result<(), Error> {
    let ids: Vec<Uuid> = requests.iter().map(|request| request.id.uuid()).collect();
    let rows = sqlx::query!(
        r#"SELECT request_id, grant_id, sum(amount)::bigint AS "amount!" FROM allocations
           WHERE request_id = ANY ($1) GROUP BY request_id, grant_id HAVING sum(amount) <> 0 ORDER BY request_id, grant_id"#,
        &ids,
    )
    .fetch_all(conn)
    .await?;
    for row in rows {
        if let Some(request) = requests.iter_mut().find(|request| request.id.uuid() == row.request_id) {
            request.allocations.push((GrantId::from_uuid(row.grant_id), amount("allocations.amount", row.amount)?));
        }
    }
    Ok(())
}
