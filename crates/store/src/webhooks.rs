//! Webhook endpoints. Their secrets are stored sealed only (see [`crate::seal`]).

use domain::{TenantId, WebhookId};
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{Error, Reach, Window};

/// An endpoint as the admin API reads it: without its secrets.
#[derive(Debug, Clone)]
pub struct Webhook {
    /// Id.
    pub id: WebhookId,
    /// Whose it is; none: the platform's, told of every tenant.
    pub tenant_id: Option<TenantId>,
    /// Where events are sent.
    pub url: String,
    /// The types that it wants.
    pub event_types: Vec<String>,
    /// For people.
    pub description: String,
    /// `enabled` or `disabled`.
    pub status: String,
    /// Why it was disabled: `gone` or `failing`.
    pub disabled_reason: Option<String>,
    /// The first failed attempt since the last one that worked.
    pub failing_since: Option<OffsetDateTime>,
    /// Until when the secret before the last rotation signs too.
    pub previous_valid_until: Option<OffsetDateTime>,
    /// When it was added.
    pub created_at: OffsetDateTime,
    /// + 1 per change.
    pub version: i64,
}

struct Row {
    id: Uuid,
    tenant_id: Option<Uuid>,
    url: String,
    event_types: Vec<String>,
    description: String,
    status: String,
    disabled_reason: Option<String>,
    failing_since: Option<OffsetDateTime>,
    previous_valid_until: Option<OffsetDateTime>,
    created_at: OffsetDateTime,
    version: i64,
}

impl From<Row> for Webhook {
    fn from(row: Row) -> Self {
        Self {
            id: WebhookId::from_uuid(row.id),
            tenant_id: row.tenant_id.map(TenantId::from_uuid),
            url: row.url,
            event_types: row.event_types,
            description: row.description,
            status: row.status,
            disabled_reason: row.disabled_reason,
            failing_since: row.failing_since,
            previous_valid_until: row.previous_valid_until,
            created_at: row.created_at,
            version: row.version,
        }
    }
}

/// Adds an endpoint; `webhook.id` is the caller's, since the secret is sealed for it. Of `webhook`, the rest of what a new
/// endpoint has by itself is ignored.
///
/// # Errors
/// Those of Postgres.
pub async fn create(conn: &mut PgConnection, webhook: &Webhook, sealed_secret: &[u8]) -> Result<Webhook, Error> {
    sqlx::query!(
        "INSERT INTO webhook_endpoints (id, tenant_id, url, event_types, description, sealed_secret)
         VALUES ($1, $2, $3, $4, $5, $6)",
        webhook.id.uuid(),
        webhook.tenant_id.map(TenantId::uuid),
        webhook.url,
        &webhook.event_types,
        webhook.description,
        sealed_secret,
    )
    .execute(&mut *conn)
    .await?;
    get(conn, webhook.id, &Reach::All).await
}

/// Reads an endpoint.
///
/// # Errors
/// `NotFound`, also beyond the caller's reach.
pub async fn get(conn: &mut PgConnection, id: WebhookId, reach: &Reach) -> Result<Webhook, Error> {
    let reach = reach.ids();
    let row = sqlx::query_as!(
        Row,
        "SELECT id, tenant_id, url, event_types, description, status, disabled_reason, failing_since, previous_valid_until,
                created_at, version
         FROM webhook_endpoints WHERE id = $1 AND ($2::uuid[] IS NULL OR tenant_id = ANY ($2))",
        id.uuid(),
        reach.as_deref(),
    )
    .fetch_one(conn)
    .await?;
    Ok(row.into())
}

/// Lists endpoints. The platform's own are listed for those who may see every tenant.
///
/// # Errors
/// Those of Postgres.
pub async fn list(conn: &mut PgConnection, reach: &Reach, window: Window) -> Result<Vec<Webhook>, Error> {
    let reach = reach.ids();
    let rows = sqlx::query_as!(
        Row,
        "SELECT id, tenant_id, url, event_types, description, status, disabled_reason, failing_since, previous_valid_until,
                created_at, version
         FROM webhook_endpoints
         WHERE ($4::uuid[] IS NULL OR tenant_id = ANY ($4))
           AND ($1::uuid IS NULL OR CASE WHEN $2 THEN id > $1 ELSE id < $1 END)
         ORDER BY CASE WHEN $2 THEN id END, id DESC LIMIT $3",
        window.after,
        window.ascending,
        window.limit,
        reach.as_deref(),
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(Webhook::from).collect())
}

/// How many endpoints the tenant (none: the platform) has.
///
/// # Errors
/// Those of Postgres.
pub async fn count(conn: &mut PgConnection, tenant: Option<TenantId>) -> Result<i64, Error> {
    let count = sqlx::query_scalar!(
        r#"SELECT count(*) AS "count!" FROM webhook_endpoints WHERE tenant_id IS NOT DISTINCT FROM $1"#,
        tenant.map(TenantId::uuid),
    );
    Ok(count.fetch_one(conn).await?)
}

/// Writes what may change, if the row still has the version that was read.
///
/// # Errors
/// `Stale` where it was changed meanwhile.
pub async fn update(conn: &mut PgConnection, webhook: &Webhook) -> Result<(), Error> {
    let updated = sqlx::query!(
        "UPDATE webhook_endpoints SET url = $3, event_types = $4, description = $5, updated_at = now(), version = version + 1
         WHERE id = $1 AND version = $2",
        webhook.id.uuid(),
        webhook.version,
        webhook.url,
        &webhook.event_types,
        webhook.description,
    )
    .execute(conn)
    .await?;
    if updated.rows_affected() == 1 { Ok(()) } else { Err(Error::Stale) }
}

/// Removes an endpoint with its deliveries.
///
/// # Errors
/// `NotFound`.
pub async fn delete(conn: &mut PgConnection, id: WebhookId) -> Result<(), Error> {
    let deleted = sqlx::query!("DELETE FROM webhook_endpoints WHERE id = $1", id.uuid()).execute(conn).await?;
    if deleted.rows_affected() == 1 { Ok(()) } else { Err(Error::NotFound) }
}

/// Puts another secret in force. The present one signs too until `old_valid_until`; one before it no longer.
///
/// # Errors
/// `NotFound`.
pub async fn rotate_secret(
    conn: &mut PgConnection,
    id: WebhookId,
    sealed_secret: &[u8],
    old_valid_until: OffsetDateTime,
) -> Result<(), Error> {
    let updated = sqlx::query!(
        "UPDATE webhook_endpoints SET previous_secret = sealed_secret, previous_valid_until = $3, sealed_secret = $2,
                updated_at = now(), version = version + 1 WHERE id = $1",
        id.uuid(),
        sealed_secret,
        old_valid_until,
    )
    .execute(conn)
    .await?;
    if updated.rows_affected() == 1 { Ok(()) } else { Err(Error::NotFound) }
}

/// Enables an endpoint as if it had never failed. True where it was disabled.
///
/// # Errors
/// Those of Postgres.
pub async fn enable(conn: &mut PgConnection, id: WebhookId) -> Result<bool, Error> {
    let updated = sqlx::query!(
        "UPDATE webhook_endpoints SET status = 'enabled', disabled_reason = NULL, failing_since = NULL, updated_at = now(),
                version = version + 1 WHERE id = $1 AND status = 'disabled'",
        id.uuid(),
    )
    .execute(conn)
    .await?;
    Ok(updated.rows_affected() == 1)
}

/// Disables an endpoint, and gives up what waited for it. None where it was disabled or removed already.
///
/// # Errors
/// Those of Postgres.
pub async fn disable(conn: &mut PgConnection, id: WebhookId, reason: &str) -> Result<Option<Webhook>, Error> {
    let updated = sqlx::query!(
        "UPDATE webhook_endpoints SET status = 'disabled', disabled_reason = $2, updated_at = now(), version = version + 1
         WHERE id = $1 AND status = 'enabled'",
        id.uuid(),
        reason,
    )
    .execute(&mut *conn)
    .await?;
    if updated.rows_affected() == 0 {
        return Ok(None);
    }
    sqlx::query!(
        "UPDATE webhook_deliveries SET state = 'failed', next_at = NULL WHERE webhook_id = $1 AND state = 'pending'",
        id.uuid(),
    )
    .execute(&mut *conn)
    .await?;
    get(conn, id, &Reach::All).await.map(Some)
}

/// Notes that an attempt worked.
///
/// # Errors
/// Those of Postgres.
pub async fn works(conn: &mut PgConnection, id: WebhookId) -> Result<(), Error> {
    sqlx::query!(
        "UPDATE webhook_endpoints SET failing_since = NULL WHERE id = $1 AND failing_since IS NOT NULL",
        id.uuid()
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Notes that an attempt failed. Returns for how many milliseconds all have, by Postgres' clock.
///
/// # Errors
/// `NotFound` where the endpoint was removed.
pub async fn fails(conn: &mut PgConnection, id: WebhookId) -> Result<i64, Error> {
    sqlx::query!(
        "UPDATE webhook_endpoints SET failing_since = clock_timestamp() WHERE id = $1 AND failing_since IS NULL",
        id.uuid(),
    )
    .execute(&mut *conn)
    .await?;
    let for_ms = sqlx::query_scalar!(
        r#"SELECT (extract(epoch FROM clock_timestamp() - coalesce(failing_since, clock_timestamp())) * 1000)::bigint AS "ms!"
           FROM webhook_endpoints WHERE id = $1"#,
        id.uuid(),
    );
    Ok(for_ms.fetch_one(conn).await?)
}
