//! Targets: which upstream serves a model, and how.

use domain::{ModelId, TargetId, UpstreamId};
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{Error, Window};

/// A target as stored.
#[derive(Debug, Clone)]
pub struct Target {
    /// Id.
    pub id: TargetId,
    /// The model that it serves.
    pub model_id: ModelId,
    /// The upstream.
    pub upstream_id: UpstreamId,
    /// The model's name at the upstream.
    pub upstream_model: String,
    /// `openai`, `anthropic`.
    pub dialects: Vec<String>,
    /// Lower is tried first.
    pub priority: i32,
    /// Share among targets of one priority.
    pub weight: i32,
    /// Decimal, 4 places.
    pub multiplier: String,
    /// Whether it is used.
    pub enabled: bool,
    /// When it was created.
    pub created_at: OffsetDateTime,
    /// + 1 per change.
    pub version: i64,
}

struct Row {
    id: Uuid,
    model_id: Uuid,
    upstream_id: Uuid,
    upstream_model: String,
    dialects: Vec<String>,
    priority: i32,
    weight: i32,
    multiplier: String,
    enabled: bool,
    created_at: OffsetDateTime,
    version: i64,
}

impl From<Row> for Target {
    fn from(row: Row) -> Self {
        Self {
            id: TargetId::from_uuid(row.id),
            model_id: ModelId::from_uuid(row.model_id),
            upstream_id: UpstreamId::from_uuid(row.upstream_id),
            upstream_model: row.upstream_model,
            dialects: row.dialects,
            priority: row.priority,
            weight: row.weight,
            multiplier: row.multiplier,
            enabled: row.enabled,
            created_at: row.created_at,
            version: row.version,
        }
    }
}

/// Adds a target; its model and upstream exist, as the caller has read them in this transaction.
///
/// # Errors
/// Those of Postgres.
pub async fn create(conn: &mut PgConnection, target: &Target) -> Result<Target, Error> {
    sqlx::query!(
        "INSERT INTO targets (id, model_id, upstream_id, upstream_model, dialects, priority, weight, multiplier, enabled)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8::text::numeric, $9)",
        target.id.uuid(),
        target.model_id.uuid(),
        target.upstream_id.uuid(),
        target.upstream_model,
        &target.dialects,
        target.priority,
        target.weight,
        target.multiplier,
        target.enabled,
    )
    .execute(&mut *conn)
    .await?;
    get(conn, target.id).await
}

/// Reads a target.
///
/// # Errors
/// `NotFound`.
pub async fn get(conn: &mut PgConnection, id: TargetId) -> Result<Target, Error> {
    let row = sqlx::query_as!(
        Row,
        r#"SELECT id, model_id, upstream_id, upstream_model, dialects, priority, weight, multiplier::text AS "multiplier!",
                  enabled, created_at, version FROM targets WHERE id = $1"#,
        id.uuid(),
    )
    .fetch_one(conn)
    .await?;
    Ok(row.into())
}

/// Lists a model's targets.
///
/// # Errors
/// Those of Postgres.
pub async fn list(conn: &mut PgConnection, model: ModelId, window: Window) -> Result<Vec<Target>, Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"SELECT id, model_id, upstream_id, upstream_model, dialects, priority, weight, multiplier::text AS "multiplier!",
                  enabled, created_at, version FROM targets
           WHERE model_id = $1 AND ($2::uuid IS NULL OR CASE WHEN $3 THEN id > $2 ELSE id < $2 END)
           ORDER BY CASE WHEN $3 THEN id END, id DESC LIMIT $4"#,
        model.uuid(),
        window.after,
        window.ascending,
        window.limit,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(Target::from).collect())
}

/// Writes what may change, if the row still has the version that was read.
///
/// # Errors
/// `Stale` where it was changed meanwhile.
pub async fn update(conn: &mut PgConnection, target: &Target) -> Result<(), Error> {
    let updated = sqlx::query!(
        "UPDATE targets SET upstream_model = $3, dialects = $4, priority = $5, weight = $6, multiplier = $7::text::numeric,
                enabled = $8, updated_at = now(), version = version + 1 WHERE id = $1 AND version = $2",
        target.id.uuid(),
        target.version,
        target.upstream_model,
        &target.dialects,
        target.priority,
        target.weight,
        target.multiplier,
        target.enabled,
    )
    .execute(conn)
    .await?;
    if updated.rows_affected() == 1 { Ok(()) } else { Err(Error::Stale) }
}

/// Removes a target.
///
/// # Errors
/// `NotFound`.
pub async fn delete(conn: &mut PgConnection, id: TargetId) -> Result<(), Error> {
    sqlx::query_scalar!("DELETE FROM targets WHERE id = $1 RETURNING id", id.uuid()).fetch_one(conn).await?;
    Ok(())
}
