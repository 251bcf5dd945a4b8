//! API keys. The secret is stored as a keyed hash only.

use domain::{KeyId, Limits, ProjectId, TenantId};
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::projects::{Budget, Owner, json};
use crate::{Error, Reach, Window};

/// A key as stored.
#[derive(Debug, Clone)]
pub struct Key {
    /// Id.
    pub id: KeyId,
    /// Its tenant.
    pub tenant_id: TenantId,
    /// Its project.
    pub project_id: ProjectId,
    /// What it is for.
    pub name: String,
    /// How its secret begins.
    pub prefix: String,
    /// `active`, `disabled` or `deleted`.
    pub status: String,
    /// How much per period; in the tenant's unit.
    pub budget: Option<Budget>,
    /// Names of the models that it may call; none: every model.
    pub models: Option<Vec<String>>,
    /// Address ranges that it may be used from; none: everywhere.
    pub ip_ranges: Option<Vec<String>>,
    /// When it ends by itself.
    pub expires_at: Option<OffsetDateTime>,
    /// Decimal, at least 1; none: the model's.
    pub safety_factor: Option<String>,
    /// Rates, in-flight and the most for one request.
    pub limits: Limits,
    /// When it last called.
    pub last_used_at: Option<OffsetDateTime>,
    /// When it was created.
    pub created_at: OffsetDateTime,
    /// + 1 per change.
    pub version: i64,
}

/// A key to be created.
#[derive(Debug, Clone, Copy)]
pub struct NewKey<'a> {
    /// Its tenant.
    pub tenant_id: TenantId,
    /// Its project.
    pub project_id: ProjectId,
    /// What it is for.
    pub name: &'a str,
    /// Keyed hash of its secret.
    pub secret_hash: &'a [u8],
    /// How its secret begins.
    pub prefix: &'a str,
    /// How much per period.
    pub budget: Option<&'a Budget>,
    /// Names of the models that it may call; none: every model.
    pub models: Option<&'a [String]>,
    /// Address ranges that it may be used from; none: everywhere.
    pub ip_ranges: Option<&'a [String]>,
    /// When it ends by itself.
    pub expires_at: Option<OffsetDateTime>,
    /// Decimal, at least 1.
    pub safety_factor: Option<&'a str>,
    /// Rates, in-flight and the most for one request.
    pub limits: &'a Limits,
}

struct Row {
    id: Uuid,
    tenant_id: Uuid,
    project_id: Uuid,
    name: String,
    prefix: String,
    status: String,
    budget_amount: Option<i64>,
    budget_period: Option<String>,
    models: Option<Vec<String>>,
    ip_ranges: Option<Vec<String>>,
    expires_at: Option<OffsetDateTime>,
    safety_factor: Option<String>,
    limits: serde_json::Value,
    last_used_at: Option<OffsetDateTime>,
    created_at: OffsetDateTime,
    version: i64,
}

impl TryFrom<Row> for Key {
    type Error = Error;
    fn try_from(row: Row) -> Result<Self, Error> {
        Ok(Self {
            id: KeyId::from_uuid(row.id),
            tenant_id: TenantId::from_uuid(row.tenant_id),
            project_id: ProjectId::from_uuid(row.project_id),
            name: row.name,
            prefix: row.prefix,
            status: row.status,
            budget: Budget::read(row.budget_amount, row.budget_period)?,
            models: row.models,
            ip_ranges: row.ip_ranges,
            expires_at: row.expires_at,
            safety_factor: row.safety_factor,
            limits: serde_json::from_value(row.limits).map_err(|why| Error::corrupt("api_keys.limits", why))?,
            last_used_at: row.last_used_at,
            created_at: row.created_at,
            version: row.version,
        })
    }
}

/// Creates a key. Its account is the caller's next step, in the same transaction.
///
/// # Errors
/// Those of Postgres.
pub async fn create(conn: &mut PgConnection, new: &NewKey<'_>) -> Result<Key, Error> {
    let id = KeyId::generate();
    sqlx::query!(
        "INSERT INTO api_keys (id, tenant_id, project_id, name, secret_hash, prefix, budget_amount, budget_period,
                               models, ip_ranges, expires_at, safety_factor, limits)
         VALUES ($1, $2, $3, $4, $5, $6, $7::bigint, $8, $9, $10, $11, $12::text::numeric, $13)",
        id.uuid(),
        new.tenant_id.uuid(),
        new.project_id.uuid(),
        new.name,
        new.secret_hash,
        new.prefix,
        new.budget.map(|budget| budget.amount.units()),
        new.budget.map(|budget| budget.period.as_str()),
        new.models,
        new.ip_ranges,
        new.expires_at,
        new.safety_factor,
        json(new.limits)?,
    )
    .execute(&mut *conn)
    .await?;
    get(conn, id, &Reach::All).await
}

/// What an account of the key's period begins with; held like a project's.
pub(crate) async fn owner(conn: &mut PgConnection, tenant: TenantId, id: KeyId) -> Result<Option<Owner>, Error> {
    let owner = sqlx::query_as!(
        Owner,
        r#"SELECT k.budget_amount AS "budget: i64", k.limits, t.unit FROM api_keys k JOIN tenants t ON t.id = k.tenant_id
           WHERE k.id = $1 AND k.tenant_id = $2 FOR SHARE OF k"#,
        id.uuid(),
        tenant.uuid(),
    );
    Ok(owner.fetch_optional(conn).await?)
}

/// Writes what may change of a key whose tenant is locked.
///
/// # Errors
/// `NotFound`.
pub async fn update(conn: &mut PgConnection, key: &Key) -> Result<Key, Error> {
    sqlx::query!(
        "UPDATE api_keys SET name = $2, models = $3, ip_ranges = $4, expires_at = $5, safety_factor = $6::text::numeric,
                limits = $7, updated_at = now(), version = version + 1 WHERE id = $1 AND status <> 'deleted'",
        key.id.uuid(),
        key.name,
        key.models.as_deref(),
        key.ip_ranges.as_deref(),
        key.expires_at,
        key.safety_factor.as_deref(),
        json(&key.limits)?,
    )
    .execute(&mut *conn)
    .await?;
    get(conn, key.id, &Reach::All).await
}

/// Reads a key within reach; deleted ones are not found.
///
/// # Errors
/// `NotFound`.
pub async fn get(conn: &mut PgConnection, id: KeyId, reach: &Reach) -> Result<Key, Error> {
    let within = reach.ids();
    let row = sqlx::query_as!(
        Row,
        r#"SELECT id, tenant_id, project_id, name, prefix, status, budget_amount AS "budget_amount: i64", budget_period,
                  models, ip_ranges, expires_at, safety_factor::text AS safety_factor, limits, last_used_at, created_at, version
           FROM api_keys WHERE id = $1 AND status <> 'deleted' AND ($2::uuid[] IS NULL OR tenant_id = ANY ($2))"#,
        id.uuid(),
        within.as_deref(),
    )
    .fetch_one(conn)
    .await?;
    row.try_into()
}

/// Lists a project's keys, without deleted ones; the caller has checked its reach.
///
/// # Errors
/// Those of Postgres.
pub async fn list(conn: &mut PgConnection, project: ProjectId, window: Window) -> Result<Vec<Key>, Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"SELECT id, tenant_id, project_id, name, prefix, status, budget_amount AS "budget_amount: i64", budget_period,
                  models, ip_ranges, expires_at, safety_factor::text AS safety_factor, limits, last_used_at, created_at, version
           FROM api_keys WHERE project_id = $1 AND status <> 'deleted'
             AND ($2::uuid IS NULL OR CASE WHEN $3 THEN id > $2 ELSE id < $2 END)
           ORDER BY CASE WHEN $3 THEN id END, id DESC LIMIT $4"#,
        project.uuid(),
        window.after,
        window.ascending,
        window.limit,
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter().map(Key::try_from).collect()
}

/// Sets the status of a key that is not deleted; `deleted` is for good.
///
/// # Errors
/// `NotFound` where it is deleted already.
pub async fn set_status(conn: &mut PgConnection, id: KeyId, status: &str) -> Result<(), Error> {
    sqlx::query_scalar!(
        "UPDATE api_keys SET status = $2, updated_at = now(), version = version + 1
         WHERE id = $1 AND status <> 'deleted' RETURNING id",
        id.uuid(),
        status,
    )
    .fetch_one(conn)
    .await?;
    Ok(())
}

/// Gives the key another secret. The present one works until `old_valid_until`; where that is now, it ends at once.
///
/// # Errors
/// `NotFound` where the key is deleted.
pub async fn rotate(
    conn: &mut PgConnection,
    id: KeyId,
    secret_hash: &[u8],
    prefix: &str,
    old_valid_until: OffsetDateTime,
) -> Result<(), Error> {
    sqlx::query!(
        "INSERT INTO retired_key_secrets (secret_hash, key_id, valid_until)
         SELECT secret_hash, id, $2 FROM api_keys WHERE id = $1 AND $2::timestamptz > now()",
        id.uuid(),
        old_valid_until,
    )
    .execute(&mut *conn)
    .await?;
    sqlx::query_scalar!(
        "UPDATE api_keys SET secret_hash = $2, prefix = $3, updated_at = now(), version = version + 1
         WHERE id = $1 AND status <> 'deleted' RETURNING id",
        id.uuid(),
        secret_hash,
        prefix,
    )
    .fetch_one(conn)
    .await?;
    Ok(())
}

/// Forgets secrets whose grace has ended. Returns how many.
///
/// # Errors
/// Those of Postgres.
pub async fn remove_retired_secrets(conn: &mut PgConnection) -> Result<u64, Error> {
    let done = sqlx::query!("DELETE FROM retired_key_secrets WHERE valid_until < now()").execute(conn).await?;
    Ok(done.rows_affected())
}
