//! Tenants.

use domain::{PoolId, TenantId};
use serde_json::Value;
use sqlx::{PgConnection, Postgres, QueryBuilder};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{Error, Reach};

/// A tenant as stored.
#[derive(Debug, Clone)]
pub struct Tenant {
    /// Id.
    pub id: TenantId,
    /// Name.
    pub name: String,
    /// The billing system's id of it.
    pub external_id: Option<String>,
    /// `credit` or `token`.
    pub unit: String,
    /// IANA name.
    pub time_zone: String,
    /// `day`, `week`, `month` or `year`.
    pub period_kind: String,
    /// Day of the month or ISO weekday.
    pub period_anchor: Option<i16>,
    /// `active`, `suspended` or `closed`.
    pub status: String,
    /// Settings that have no column of their own.
    pub settings: Value,
    /// Decimal, 4 places.
    pub multiplier: String,
    /// When it was created.
    pub created_at: OffsetDateTime,
    /// When it last called.
    pub last_used_at: Option<OffsetDateTime>,
    /// + 1 per change.
    pub version: i64,
    /// The pool that it is in, with its weight there.
    pub pool: Option<(PoolId, i32)>,
}

#[derive(sqlx::FromRow)]
struct Row {
    id: Uuid,
    name: String,
    external_id: Option<String>,
    unit: String,
    time_zone: String,
    period_kind: String,
    period_anchor: Option<i16>,
    status: String,
    settings: Value,
    multiplier: String,
    created_at: OffsetDateTime,
    last_used_at: Option<OffsetDateTime>,
    version: i64,
    pool_id: Option<Uuid>,
    weight: Option<i32>,
}

impl From<Row> for Tenant {
    fn from(row: Row) -> Self {
        Self {
            id: TenantId::from_uuid(row.id),
            name: row.name,
            external_id: row.external_id,
            unit: row.unit,
            time_zone: row.time_zone,
            period_kind: row.period_kind,
            period_anchor: row.period_anchor,
            status: row.status,
            settings: row.settings,
            multiplier: row.multiplier,
            created_at: row.created_at,
            last_used_at: row.last_used_at,
            version: row.version,
            pool: row.pool_id.map(PoolId::from_uuid).zip(row.weight),
        }
    }
}

/// A tenant to be created.
#[derive(Debug, Clone)]
pub struct NewTenant<'a> {
    /// Name.
    pub name: &'a str,
    /// The billing system's id of it.
    pub external_id: Option<&'a str>,
    /// `credit` or `token`.
    pub unit: &'a str,
    /// IANA name.
    pub time_zone: &'a str,
    /// `day`, `week`, `month` or `year`.
    pub period_kind: &'a str,
    /// Day of the month or ISO weekday.
    pub period_anchor: Option<i16>,
    /// Settings that have no column of their own.
    pub settings: &'a Value,
    /// Decimal, 4 places.
    pub multiplier: &'a str,
}

/// Creates a tenant. Its account is the caller's next step, in the same transaction.
///
/// # Errors
/// `AlreadyExists` where the external id is taken.
pub async fn create(conn: &mut PgConnection, new: &NewTenant<'_>) -> Result<Tenant, Error> {
    let id = TenantId::generate();
    sqlx::query!(
        "INSERT INTO tenants (id, name, external_id, unit, time_zone, period_kind, period_anchor, settings, multiplier)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9::text::numeric)",
        id.uuid(),
        new.name,
        new.external_id,
        new.unit,
        new.time_zone,
        new.period_kind,
        new.period_anchor,
        new.settings,
        new.multiplier,
    )
    .execute(&mut *conn)
    .await?;
    get(conn, id, &Reach::All).await
}

/// Reads a tenant within reach.
///
/// # Errors
/// `NotFound`.
pub async fn get(conn: &mut PgConnection, id: TenantId, reach: &Reach) -> Result<Tenant, Error> {
    let within = reach.ids();
    let row = sqlx::query_as!(
        Row,
        r#"SELECT id, name, external_id, unit, time_zone, period_kind, period_anchor, status, settings,
                  multiplier::text AS "multiplier!", created_at, last_used_at, version, m.pool_id AS "pool_id?", m.weight AS "weight?"
           FROM tenants LEFT JOIN pool_members m ON m.tenant_id = id WHERE id = $1 AND ($2::uuid[] IS NULL OR id = ANY ($2))"#,
        id.uuid(),
        within.as_deref(),
    )
    .fetch_one(conn)
    .await?;
    Ok(row.into())
}

/// Reads a tenant within reach and holds its row until the transaction's end.
///
/// # Errors
/// `NotFound`.
pub async fn lock(conn: &mut PgConnection, id: TenantId, reach: &Reach) -> Result<Tenant, Error> {
    sqlx::query!("SELECT id FROM tenants WHERE id = $1 FOR NO KEY UPDATE", id.uuid())
        .fetch_optional(&mut *conn)
        .await?;
    get(conn, id, reach).await
}

/// The tenant that has this external id.
///
/// # Errors
/// Those of Postgres.
pub async fn by_external_id(conn: &mut PgConnection, external_id: &str) -> Result<Option<TenantId>, Error> {
    let id = sqlx::query_scalar!("SELECT id FROM tenants WHERE external_id = $1", external_id);
    Ok(id.fetch_optional(conn).await?.map(TenantId::from_uuid))
}

/// Writes what may change of a locked tenant.
///
/// # Errors
/// `AlreadyExists` where the external id is taken.
pub async fn update(conn: &mut PgConnection, tenant: &Tenant) -> Result<Tenant, Error> {
    sqlx::query!(
        "UPDATE tenants SET name = $2, external_id = $3, settings = $4, multiplier = $5::text::numeric,
                time_zone = $6, updated_at = now(), version = version + 1 WHERE id = $1",
        tenant.id.uuid(),
        tenant.name,
        tenant.external_id,
        tenant.settings,
        tenant.multiplier,
        tenant.time_zone,
    )
    .execute(&mut *conn)
    .await?;
    get(conn, tenant.id, &Reach::All).await
}

/// Sets the status of a tenant.
///
/// # Errors
/// `NotFound`.
pub async fn set_status(conn: &mut PgConnection, id: TenantId, status: &str) -> Result<Tenant, Error> {
    sqlx::query!(
        "UPDATE tenants SET status = $2, updated_at = now(), version = version + 1 WHERE id = $1",
        id.uuid(),
        status,
    )
    .execute(&mut *conn)
    .await?;
    get(conn, id, &Reach::All).await
}

/// What a list of tenants is sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortBy {
    /// When they were created.
    CreatedAt,
    /// What they have used.
    Used,
    /// What is left, in percent of the total, by Postgres' count: without what is in flight.
    RemainingPercent,
}

impl SortBy {
    /// The expression and its type; `a` is the tenant's account.
    const fn sql(self) -> (&'static str, &'static str) {
        match self {
            Self::CreatedAt => ("t.created_at", "timestamptz"),
            Self::Used => ("coalesce(a.used, 0)::bigint", "bigint"),
            Self::RemainingPercent => (
                "(CASE WHEN a.total > 0 THEN round((a.total - a.used)::numeric * 100 / a.total, 6) ELSE 0 END)",
                "numeric",
            ),
        }
    }
}

/// Which tenants, in which order, from where on.
#[derive(Debug, Clone)]
pub struct ListAsk {
    /// Part of the name or of the external id, in any case; or an id.
    pub q: Option<String>,
    /// Status.
    pub status: Option<String>,
    /// External id.
    pub external_id: Option<String>,
    /// In this pool.
    pub pool_id: Option<PoolId>,
    /// Order.
    pub sort: SortBy,
    /// Least first.
    pub ascending: bool,
    /// Sort value and id of the last row of the page before.
    pub after: Option<(String, TenantId)>,
    /// Rows at most.
    pub limit: i64,
}

#[derive(sqlx::FromRow)]
struct ListRow {
    #[sqlx(flatten)]
    row: Row,
    sort_value: String,
}

/// Lists tenants within reach, each with its sort value (for the cursor).
///
/// # Errors
/// Those of Postgres.
pub async fn list(conn: &mut PgConnection, ask: &ListAsk, reach: &Reach) -> Result<Vec<(Tenant, String)>, Error> {
    let (sort, sort_type) = ask.sort.sql();
    let mut sql = QueryBuilder::<Postgres>::new(
        "SELECT t.id, t.name, t.external_id, t.unit, t.time_zone, t.period_kind, t.period_anchor, t.status, t.settings,
                t.multiplier::text AS multiplier, t.created_at, t.last_used_at, t.version, m.pool_id, m.weight, ",
    );
    sql.push(sort).push("::text AS sort_value FROM tenants t LEFT JOIN accounts a ON a.tenant_id = t.id AND a.level = 'tenant' LEFT JOIN pool_members m ON m.tenant_id = t.id WHERE true");
    if let Some(ids) = reach.ids() {
        sql.push(" AND t.id = ANY (").push_bind(ids).push(")");
    }
    if let Some(q) = &ask.q {
        let pattern = format!("%{}%", q.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_"));
        sql.push(" AND (t.name ILIKE ").push_bind(pattern.clone()).push(" OR t.external_id ILIKE ").push_bind(pattern);
        sql.push(" OR t.id = ").push_bind(q.parse::<TenantId>().ok().map(TenantId::uuid)).push(")");
    }
    if let Some(status) = &ask.status {
        sql.push(" AND t.status = ").push_bind(status.clone());
    }
    if let Some(external_id) = &ask.external_id {
        sql.push(" AND t.external_id = ").push_bind(external_id.clone());
    }
    if let Some(pool) = ask.pool_id {
        sql.push(" AND m.pool_id = ").push_bind(pool.uuid());
    }
    let (compare, order) = if ask.ascending { (">", "ASC") } else { ("<", "DESC") };
    if let Some((value, id)) = &ask.after {
        sql.push(format_args!(" AND ({sort}, t.id) {compare} (")).push_bind(value.clone());
        sql.push(format_args!("::text::{sort_type}, ")).push_bind(id.uuid()).push(")");
    }
    sql.push(format_args!(" ORDER BY {sort} {order}, t.id {order} LIMIT ")).push_bind(ask.limit);
    let rows: Vec<ListRow> = sql.build_query_as().fetch_all(conn).await?;
    Ok(rows.into_iter().map(|row| (row.row.into(), row.sort_value)).collect())
}
