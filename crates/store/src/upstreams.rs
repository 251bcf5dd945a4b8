//! Upstream accounts. Their provider key is stored sealed only (see [`crate::seal`]).

use domain::UpstreamId;
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{Error, Window};

/// An upstream as the admin API reads it: without its key.
#[derive(Debug, Clone)]
pub struct Upstream {
    /// Id.
    pub id: UpstreamId,
    /// Name.
    pub name: String,
    /// `openai` or `anthropic`.
    pub kind: String,
    /// Base URL.
    pub base_url: String,
    /// The last characters of the key.
    pub key_hint: Option<String>,
    /// + 1 per new key.
    pub key_version: i32,
    /// Milliseconds to connect.
    pub connect_timeout_ms: i32,
    /// Milliseconds without a byte.
    pub read_timeout_ms: i32,
    /// When it was added.
    pub created_at: OffsetDateTime,
    /// + 1 per change.
    pub version: i64,
}

/// A sealed key and what is shown of it.
#[derive(Debug, Clone)]
pub struct SealedKey {
    /// From [`crate::seal::Sealer::seal`], for this upstream's id.
    pub sealed: Vec<u8>,
    /// The last characters.
    pub hint: String,
}

struct Row {
    id: Uuid,
    name: String,
    kind: String,
    base_url: String,
    key_hint: Option<String>,
    key_version: i32,
    connect_timeout_ms: i32,
    read_timeout_ms: i32,
    created_at: OffsetDateTime,
    version: i64,
}

impl From<Row> for Upstream {
    fn from(row: Row) -> Self {
        Self {
            id: UpstreamId::from_uuid(row.id),
            name: row.name,
            kind: row.kind,
            base_url: row.base_url,
            key_hint: row.key_hint,
            key_version: row.key_version,
            connect_timeout_ms: row.connect_timeout_ms,
            read_timeout_ms: row.read_timeout_ms,
            created_at: row.created_at,
            version: row.version,
        }
    }
}

/// Adds an upstream; `upstream.id` is the caller's, since the key is sealed for it.
///
/// # Errors
/// `AlreadyExists` where the name is taken.
pub async fn create(conn: &mut PgConnection, upstream: &Upstream, key: Option<&SealedKey>) -> Result<Upstream, Error> {
    sqlx::query!(
        "INSERT INTO upstreams (id, name, kind, base_url, sealed_key, key_hint, connect_timeout_ms, read_timeout_ms)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        upstream.id.uuid(),
        upstream.name,
        upstream.kind,
        upstream.base_url,
        key.map(|key| key.sealed.as_slice()),
        key.map(|key| key.hint.as_str()),
        upstream.connect_timeout_ms,
        upstream.read_timeout_ms,
    )
    .execute(&mut *conn)
    .await?;
    get(conn, upstream.id).await
}

/// Reads an upstream.
///
/// # Errors
/// `NotFound`.
pub async fn get(conn: &mut PgConnection, id: UpstreamId) -> Result<Upstream, Error> {
    let row = sqlx::query_as!(
        Row,
        "SELECT id, name, kind, base_url, key_hint, key_version, connect_timeout_ms, read_timeout_ms, created_at, version
         FROM upstreams WHERE id = $1",
        id.uuid(),
    )
    .fetch_one(conn)
    .await?;
    Ok(row.into())
}

/// Lists upstreams.
///
/// # Errors
/// Those of Postgres.
pub async fn list(conn: &mut PgConnection, window: Window) -> Result<Vec<Upstream>, Error> {
    let rows = sqlx::query_as!(
        Row,
        "SELECT id, name, kind, base_url, key_hint, key_version, connect_timeout_ms, read_timeout_ms, created_at, version
         FROM upstreams WHERE $1::uuid IS NULL OR CASE WHEN $2 THEN id > $1 ELSE id < $1 END
         ORDER BY CASE WHEN $2 THEN id END, id DESC LIMIT $3",
        window.after,
        window.ascending,
        window.limit,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(Upstream::from).collect())
}

/// Writes what may change, if the row still has the version that was read.
///
/// # Errors
/// `Stale` where it was changed meanwhile, `AlreadyExists` where the name is taken.
pub async fn update(conn: &mut PgConnection, upstream: &Upstream) -> Result<(), Error> {
    let updated = sqlx::query!(
        "UPDATE upstreams SET name = $3, base_url = $4, connect_timeout_ms = $5, read_timeout_ms = $6,
                updated_at = now(), version = version + 1 WHERE id = $1 AND version = $2",
        upstream.id.uuid(),
        upstream.version,
        upstream.name,
        upstream.base_url,
        upstream.connect_timeout_ms,
        upstream.read_timeout_ms,
    )
    .execute(conn)
    .await?;
    if updated.rows_affected() == 1 { Ok(()) } else { Err(Error::Stale) }
}

/// The sealed key; none where the upstream wants none.
///
/// # Errors
/// `NotFound`.
pub async fn sealed_key(conn: &mut PgConnection, id: UpstreamId) -> Result<Option<Vec<u8>>, Error> {
    let key = sqlx::query_scalar!("SELECT sealed_key FROM upstreams WHERE id = $1", id.uuid());
    Ok(key.fetch_one(conn).await?)
}

/// Replaces or removes the provider's key.
///
/// # Errors
/// Those of Postgres.
pub async fn set_key(conn: &mut PgConnection, id: UpstreamId, key: Option<&SealedKey>) -> Result<(), Error> {
    sqlx::query!(
        "UPDATE upstreams SET sealed_key = $2, key_hint = $3, key_version = key_version + 1 WHERE id = $1",
        id.uuid(),
        key.map(|key| key.sealed.as_slice()),
        key.map(|key| key.hint.as_str()),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Removes an upstream that no target uses.
///
/// # Errors
/// `NotFound`; `Stale` where a target uses it.
pub async fn delete(conn: &mut PgConnection, id: UpstreamId) -> Result<(), Error> {
    // The row's lock keeps new targets away until the end of the transaction.
    sqlx::query!("SELECT id FROM upstreams WHERE id = $1 FOR UPDATE", id.uuid()).fetch_one(&mut *conn).await?;
    let deleted = sqlx::query!(
        "DELETE FROM upstreams WHERE id = $1 AND NOT EXISTS (SELECT FROM targets WHERE upstream_id = $1)",
        id.uuid(),
    )
    .execute(conn)
    .await?;
    if deleted.rows_affected() == 1 { Ok(()) } else { Err(Error::Stale) }
}
