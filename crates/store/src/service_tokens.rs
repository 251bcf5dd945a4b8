//! Tokens of systems. The secret is stored as a keyed hash only.

use domain::TenantId;
use domain::ids::ServiceTokenId;
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{Error, Window};

/// A token as stored.
#[derive(Debug, Clone)]
pub struct ServiceToken {
    /// Id.
    pub id: ServiceTokenId,
    /// What it is for.
    pub name: String,
    /// How its secret begins.
    pub prefix: String,
    /// What it may do.
    pub scopes: Vec<String>,
    /// The tenants that it is limited to; none: every tenant.
    pub tenant_ids: Option<Vec<TenantId>>,
    /// When it ends by itself.
    pub expires_at: Option<OffsetDateTime>,
    /// When it was last used, to the minute.
    pub last_used_at: Option<OffsetDateTime>,
    /// When it was made.
    pub created_at: OffsetDateTime,
}

/// A token to be made.
#[derive(Debug, Clone, Copy)]
pub struct NewServiceToken<'a> {
    /// What it is for.
    pub name: &'a str,
    /// Keyed hash of its secret.
    pub secret_hash: &'a [u8],
    /// How its secret begins.
    pub prefix: &'a str,
    /// What it may do.
    pub scopes: &'a [String],
    /// The tenants that it is limited to; none: every tenant.
    pub tenant_ids: Option<&'a [TenantId]>,
    /// When it ends by itself.
    pub expires_at: Option<OffsetDateTime>,
}

struct Row {
    id: Uuid,
    name: String,
    prefix: String,
    scopes: Vec<String>,
    tenant_ids: Option<Vec<Uuid>>,
    expires_at: Option<OffsetDateTime>,
    last_used_at: Option<OffsetDateTime>,
    created_at: OffsetDateTime,
}

impl From<Row> for ServiceToken {
    fn from(row: Row) -> Self {
        Self {
            id: ServiceTokenId::from_uuid(row.id),
            name: row.name,
            prefix: row.prefix,
            scopes: row.scopes,
            tenant_ids: row.tenant_ids.map(|ids| ids.into_iter().map(TenantId::from_uuid).collect()),
            expires_at: row.expires_at,
            last_used_at: row.last_used_at,
            created_at: row.created_at,
        }
    }
}

/// Makes a token.
///
/// # Errors
/// Those of Postgres.
pub async fn create(conn: &mut PgConnection, new: &NewServiceToken<'_>) -> Result<ServiceToken, Error> {
    let tenant_ids: Option<Vec<Uuid>> = new.tenant_ids.map(|ids| ids.iter().map(|id| id.uuid()).collect());
    let row = sqlx::query_as!(
        Row,
        "INSERT INTO service_tokens (id, name, secret_hash, prefix, scopes, tenant_ids, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         RETURNING id, name, prefix, scopes, tenant_ids, expires_at, last_used_at, created_at",
        ServiceTokenId::generate().uuid(),
        new.name,
        new.secret_hash,
        new.prefix,
        new.scopes,
        tenant_ids.as_deref(),
        new.expires_at,
    )
    .fetch_one(conn)
    .await?;
    Ok(row.into())
}

/// Finds the live token of a secret.
///
/// # Errors
/// `NotFound` where there is none, or it is revoked or has expired.
pub async fn by_secret_hash(conn: &mut PgConnection, secret_hash: &[u8]) -> Result<ServiceToken, Error> {
    let row = sqlx::query_as!(
        Row,
        "SELECT id, name, prefix, scopes, tenant_ids, expires_at, last_used_at, created_at FROM service_tokens
         WHERE (secret_hash = $1 OR id = (SELECT token_id FROM retired_service_token_secrets
                                          WHERE secret_hash = $1 AND valid_until > now()))
           AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())",
        secret_hash,
    )
    .fetch_one(conn)
    .await?;
    Ok(row.into())
}

/// Notes that the token was used, at most once a minute. Commit it at once: it holds the token's row.
///
/// # Errors
/// Those of Postgres.
pub async fn touch(conn: &mut PgConnection, id: ServiceTokenId) -> Result<(), Error> {
    sqlx::query!(
        "UPDATE service_tokens SET last_used_at = now()
         WHERE id = (SELECT id FROM service_tokens WHERE id = $1
                     AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute') FOR UPDATE SKIP LOCKED)",
        id.uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Lists the tokens that are not revoked.
///
/// # Errors
/// Those of Postgres.
pub async fn list(conn: &mut PgConnection, window: Window) -> Result<Vec<ServiceToken>, Error> {
    let rows = sqlx::query_as!(
        Row,
        "SELECT id, name, prefix, scopes, tenant_ids, expires_at, last_used_at, created_at FROM service_tokens
         WHERE revoked_at IS NULL AND ($1::uuid IS NULL OR CASE WHEN $2 THEN id > $1 ELSE id < $1 END)
         ORDER BY CASE WHEN $2 THEN id END, id DESC LIMIT $3",
        window.after,
        window.ascending,
        window.limit,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(ServiceToken::from).collect())
}

/// Revokes a token at once. Returns what it was.
///
/// # Errors
/// `NotFound` where there is none that lives.
pub async fn revoke(conn: &mut PgConnection, id: ServiceTokenId) -> Result<ServiceToken, Error> {
    let row = sqlx::query_as!(
        Row,
        "UPDATE service_tokens SET revoked_at = now() WHERE id = $1 AND revoked_at IS NULL
         RETURNING id, name, prefix, scopes, tenant_ids, expires_at, last_used_at, created_at",
        id.uuid(),
    )
    .fetch_one(conn)
    .await?;
    Ok(row.into())
}

/// Gives the token another secret. The present one works until `old_valid_until`; where that is now, it ends at once.
///
/// # Errors
/// `NotFound` where there is none that lives.
pub async fn rotate(
    conn: &mut PgConnection,
    id: ServiceTokenId,
    secret_hash: &[u8],
    prefix: &str,
    old_valid_until: OffsetDateTime,
) -> Result<ServiceToken, Error> {
    sqlx::query!(
        "INSERT INTO retired_service_token_secrets (secret_hash, token_id, valid_until)
         SELECT secret_hash, id, $2 FROM service_tokens WHERE id = $1 AND $2::timestamptz > now()",
        id.uuid(),
        old_valid_until,
    )
    .execute(&mut *conn)
    .await?;
    let row = sqlx::query_as!(
        Row,
        "UPDATE service_tokens SET secret_hash = $2, prefix = $3 WHERE id = $1 AND revoked_at IS NULL
         RETURNING id, name, prefix, scopes, tenant_ids, expires_at, last_used_at, created_at",
        id.uuid(),
        secret_hash,
        prefix,
    )
    .fetch_one(conn)
    .await?;
    Ok(row.into())
}

/// Forgets secrets whose grace has ended. Returns how many.
///
/// # Errors
/// Those of Postgres.
pub async fn remove_retired_secrets(conn: &mut PgConnection) -> Result<u64, Error> {
    let done = sqlx::query!("DELETE FROM retired_service_token_secrets WHERE valid_until < now()");
    Ok(done.execute(conn).await?.rows_affected())
}
