//! Deliveries of events to webhook endpoints: one per endpoint and event.

use domain::{DeliveryId, EventId, TenantId, WebhookId};
use serde_json::Value;
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::Error;

/// A delivery to be tried now.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// Id.
    pub id: DeliveryId,
    /// To whom.
    pub webhook_id: WebhookId,
    /// Where.
    pub url: String,
    /// Sealed for the endpoint's id.
    pub sealed_secret: Vec<u8>,
    /// The secret before the last rotation, while it signs too.
    pub previous_secret: Option<Vec<u8>>,
    /// What.
    pub event_id: EventId,
    /// Its type.
    pub kind: String,
    /// When it happened.
    pub at: OffsetDateTime,
    /// As callers read it.
    pub payload: Value,
    /// Attempts made before in this run through the schedule.
    pub tries: u16,
}

/// A delivery as the admin API reads it.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// Id.
    pub id: DeliveryId,
    /// Its place in the list.
    pub number: i64,
    /// The event.
    pub event_id: EventId,
    /// Its type.
    pub kind: String,
    /// `pending`, `delivered` or `failed`.
    pub state: String,
    /// The last attempts: `at`, `status`, `ms`, `error`, `body`.
    pub attempts: Value,
    /// When it is tried next.
    pub next_at: Option<OffsetDateTime>,
}

/// What comes after an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Nothing: it worked.
    Delivered,
    /// Another, after so many milliseconds.
    Again(i64),
    /// Nothing: it was the last.
    Failed,
}

impl Next {
    pub(crate) const fn state(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Again(_) => "pending",
            Self::Failed => "failed",
        }
    }

    pub(crate) const fn after_ms(self) -> Option<i64> {
        match self {
            Self::Again(ms) => Some(ms),
            Self::Delivered | Self::Failed => None,
        }
    }
}

/// Makes a delivery for each enabled endpoint that wants one of the events, due at once. Returns how many.
///
/// # Errors
/// Those of Postgres.
pub async fn fan_out(conn: &mut PgConnection, events: &[EventId]) -> Result<u64, Error> {
    let events: Vec<Uuid> = events.iter().map(|id| id.uuid()).collect();
    let made = sqlx::query!(
        "INSERT INTO webhook_deliveries (id, webhook_id, event_id, next_at)
         SELECT gen_random_uuid(), w.id, o.event_id, now()
         FROM outbox o JOIN webhook_endpoints w ON w.status = 'enabled' AND CASE WHEN o.webhook_id IS NOT NULL
             THEN w.id = o.webhook_id
             ELSE (w.tenant_id IS NULL OR w.tenant_id = o.tenant_id) AND o.type = ANY (w.event_types) END
         WHERE o.event_id = ANY ($1) ORDER BY o.position ON CONFLICT DO NOTHING",
        &events,
    )
    .execute(conn)
    .await?;
    Ok(made.rows_affected())
}

/// Claims deliveries that are due: at most `each` of one endpoint, of one that fails a single one, of `busy` ones none.
/// Whoever claims has `lease_ms`; after that the delivery is due again.
///
/// # Errors
/// Those of Postgres.
pub async fn claim(
    conn: &mut PgConnection,
    busy: &[WebhookId],
    each: i64,
    limit: i64,
    lease_ms: i64,
) -> Result<Vec<Claimed>, Error> {
    let busy: Vec<Uuid> = busy.iter().map(|id| id.uuid()).collect();
    let rows = sqlx::query!(
        r#"UPDATE webhook_deliveries d SET next_at = clock_timestamp() + $4::bigint * interval '1 millisecond'
           FROM (SELECT due.id, w.url, w.sealed_secret,
                        CASE WHEN w.previous_valid_until > now() THEN w.previous_secret END AS previous_secret
                 FROM webhook_endpoints w CROSS JOIN LATERAL (
                     SELECT id, next_at FROM webhook_deliveries
                     WHERE webhook_id = w.id AND state = 'pending' AND next_at <= clock_timestamp()
                     ORDER BY next_at LIMIT CASE WHEN w.failing_since IS NULL THEN $2::bigint ELSE 1 END
                     FOR UPDATE SKIP LOCKED) due
                 WHERE w.status = 'enabled' AND w.id <> ALL ($1) LIMIT $3) x, outbox o
           WHERE d.id = x.id AND o.event_id = d.event_id
           RETURNING d.id, d.webhook_id, d.event_id, d.tries, x.url AS "url!", x.sealed_secret AS "sealed_secret!",
                     x.previous_secret, o.type AS kind, o.at, o.payload AS "payload!""#,
        &busy,
        each,
        limit,
        lease_ms,
    )
    .fetch_all(conn)
    .await?;
    let claimed = rows.into_iter().map(|row| Claimed {
        id: DeliveryId::from_uuid(row.id),
        webhook_id: WebhookId::from_uuid(row.webhook_id),
        url: row.url,
        sealed_secret: row.sealed_secret,
        previous_secret: row.previous_secret,
        event_id: EventId::from_uuid(row.event_id),
        kind: row.kind,
        at: row.at,
        payload: row.payload,
        tries: u16::try_from(row.tries).unwrap_or_default(),
    });
    Ok(claimed.collect())
}

/// Writes an attempt down with what comes after it. Of old attempts the last 19 stay.
///
/// # Errors
/// Those of Postgres.
pub async fn record(conn: &mut PgConnection, id: DeliveryId, attempt: &Value, next: Next) -> Result<(), Error> {
    sqlx::query!(
        "UPDATE webhook_deliveries SET state = $3, tries = tries + 1,
                attempts = CASE WHEN jsonb_array_length(attempts) >= 20 THEN attempts - 0 ELSE attempts END
                           || jsonb_build_array($2::jsonb),
                next_at = clock_timestamp() + $4::bigint * interval '1 millisecond' WHERE id = $1 AND state = 'pending'",
        id.uuid(),
        attempt,
        next.state(),
        next.after_ms(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// An endpoint's deliveries, newest first, those before `before`.
///
/// # Errors
/// Those of Postgres.
pub async fn list(
    conn: &mut PgConnection,
    webhook: WebhookId,
    state: Option<&str>,
    before: Option<i64>,
    limit: i64,
) -> Result<Vec<Delivery>, Error> {
    let rows = sqlx::query!(
        r#"SELECT d.id, d.number, d.event_id, o.type AS kind, d.state, d.attempts, d.next_at
           FROM webhook_deliveries d JOIN outbox o ON o.event_id = d.event_id
           WHERE d.webhook_id = $1 AND ($2::text IS NULL OR d.state = $2) AND ($3::bigint IS NULL OR d.number < $3)
           ORDER BY d.number DESC LIMIT $4"#,
        webhook.uuid(),
        state,
        before,
        limit,
    )
    .fetch_all(conn)
    .await?;
    let deliveries = rows.into_iter().map(|row| Delivery {
        id: DeliveryId::from_uuid(row.id),
        number: row.number,
        event_id: EventId::from_uuid(row.event_id),
        kind: row.kind,
        state: row.state,
        attempts: row.attempts,
        next_at: row.next_at,
    });
    Ok(deliveries.collect())
}

/// Which events are to be delivered again.
#[derive(Debug, Clone, Default)]
pub struct Again {
    /// These only.
    pub events: Option<Vec<EventId>>,
    /// Those that happened at or after.
    pub from: Option<OffsetDateTime>,
    /// Those that happened before.
    pub to: Option<OffsetDateTime>,
    /// Events at most, oldest first.
    pub limit: i64,
}

/// Makes events that the endpoint may see due again, from the schedule's beginning and with the same ids: those asked for by
/// id, or of a range those of the types that it wants. Returns how many.
///
/// # Errors
/// Those of Postgres.
pub async fn redeliver(
    conn: &mut PgConnection,
    webhook: WebhookId,
    tenant: Option<TenantId>,
    again: &Again,
) -> Result<u64, Error> {
    let events: Option<Vec<Uuid>> = again.events.as_ref().map(|ids| ids.iter().map(|id| id.uuid()).collect());
    let queued = sqlx::query!(
        "INSERT INTO webhook_deliveries (id, webhook_id, event_id, next_at)
         SELECT gen_random_uuid(), w.id, o.event_id, now()
         FROM (SELECT event_id, type, position FROM outbox
               WHERE position IS NOT NULL AND ($2::uuid IS NULL OR tenant_id = $2) AND (webhook_id IS NULL OR webhook_id = $1)
                 AND ($3::uuid[] IS NULL OR event_id = ANY ($3)) AND ($4::timestamptz IS NULL OR at >= $4)
                 AND ($5::timestamptz IS NULL OR at < $5)) o
         JOIN webhook_endpoints w ON w.id = $1 AND ($3::uuid[] IS NOT NULL OR o.type = ANY (w.event_types))
         ORDER BY o.position LIMIT $6
         ON CONFLICT (webhook_id, event_id) DO UPDATE SET state = 'pending', tries = 0, next_at = now()",
        webhook.uuid(),
        tenant.map(TenantId::uuid),
        events.as_deref(),
        again.from,
        again.to,
        again.limit,
    )
    .execute(conn)
    .await?;
    Ok(queued.rows_affected())
}
