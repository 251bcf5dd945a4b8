//! The outbox: what happened and has to be told. Written in the transaction in which it happens; handed on, in one
//! order, by [`publish`].

use domain::{EventId, Scope, TenantId, WebhookId};
use serde_json::Value;
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{Error, Reach};

/// An event to be told.
#[derive(Debug, Clone)]
pub struct NewEvent<'a> {
    /// Such as `endpoint.disabled`.
    pub kind: &'a str,
    /// Whose it is; none: the platform's.
    pub tenant_id: Option<TenantId>,
    /// The only endpoint to be told; none: all that want the type.
    pub webhook_id: Option<WebhookId>,
    /// The account that it is about: its numbers are told as they are when the event is handed on.
    pub scope: Option<&'a Scope>,
    /// What is told; amounts as strings of units.
    pub data: Value,
}

/// An event that was not handed on yet.
#[derive(Debug, Clone)]
pub struct Waiting {
    /// Its row.
    pub id: i64,
    /// Type.
    pub kind: String,
    /// Whose it is.
    pub tenant_id: Option<TenantId>,
    /// The tenant's `credit` or `token`.
    pub unit: Option<String>,
    /// The account that it is about.
    pub scope: Option<String>,
    /// As it was written.
    pub data: Value,
    /// When it happened.
    pub at: OffsetDateTime,
}

/// An event of the feed.
#[derive(Debug, Clone)]
pub struct Event {
    /// Id.
    pub id: EventId,
    /// Type.
    pub kind: String,
    /// When it happened.
    pub at: OffsetDateTime,
    /// As callers read it.
    pub payload: Value,
}

/// Writes an event; commits with what it tells.
///
/// # Errors
/// Those of Postgres.
pub async fn append(conn: &mut PgConnection, event: &NewEvent<'_>) -> Result<EventId, Error> {
    let id = EventId::generate();
    sqlx::query!(
        "INSERT INTO outbox (event_id, type, tenant_id, webhook_id, scope, data) VALUES ($1, $2, $3, $4, $5, $6)",
        id.uuid(),
        event.kind,
        event.tenant_id.map(TenantId::uuid),
        event.webhook_id.map(WebhookId::uuid),
        event.scope.map(ToString::to_string),
        event.data,
    )
    .execute(conn)
    .await?;
    Ok(id)
}

/// Events that wait to be handed on, oldest first.
///
/// # Errors
/// Those of Postgres.
pub async fn waiting(conn: &mut PgConnection, limit: i64) -> Result<Vec<Waiting>, Error> {
    let rows = sqlx::query!(
        r#"SELECT o.id, o.type AS kind, o.tenant_id, t.unit AS "unit?", o.scope, o.data, o.at
           FROM outbox o LEFT JOIN tenants t ON t.id = o.tenant_id WHERE o.position IS NULL ORDER BY o.id LIMIT $1"#,
        limit,
    )
    .fetch_all(conn)
    .await?;
    let waiting = rows.into_iter().map(|row| Waiting {
        id: row.id,
        kind: row.kind,
        tenant_id: row.tenant_id.map(TenantId::from_uuid),
        unit: row.unit,
        scope: row.scope,
        data: row.data,
        at: row.at,
    });
    Ok(waiting.collect())
}

/// Gives each its position and its payload. Returns the events that had none yet: another may have been faster. Whoever
/// calls it waits for the transaction of whoever called it before, so positions appear in their order.
///
/// # Errors
/// Those of Postgres.
pub async fn publish(conn: &mut PgConnection, ids: &[i64], payloads: &[Value]) -> Result<Vec<EventId>, Error> {
    sqlx::query!("SELECT pg_advisory_xact_lock(hashtext('tollgate.outbox'))").execute(&mut *conn).await?;
    let published = sqlx::query_scalar!(
        "UPDATE outbox SET position = x.position, payload = x.payload
         FROM (SELECT i.id, i.payload,
                      (SELECT coalesce(max(o.position), 0) FROM outbox o) + row_number() OVER (ORDER BY i.id) AS position
               FROM unnest($1::bigint[], $2::jsonb[]) AS i (id, payload)
               JOIN outbox w ON w.id = i.id AND w.position IS NULL) x
         WHERE outbox.id = x.id RETURNING event_id",
        ids,
        payloads,
    )
    .fetch_all(conn)
    .await?;
    Ok(published.into_iter().map(EventId::from_uuid).collect())
}

/// Which part of the feed.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Those after this event.
    pub after: Option<EventId>,
    /// Of this type.
    pub kind: Option<String>,
    /// Of this tenant.
    pub tenant_id: Option<TenantId>,
    /// Events at most.
    pub limit: i64,
}

/// The feed: events in the order in which they were handed on.
///
/// # Errors
/// `NotFound` where `after` is no event that the caller may see.
pub async fn list(conn: &mut PgConnection, filter: &Filter, reach: &Reach) -> Result<Vec<Event>, Error> {
    let reach = reach.ids();
    let after = match filter.after {
        Some(id) => position(conn, id, reach.as_deref()).await?,
        None => 0,
    };
    let rows = sqlx::query!(
        r#"SELECT event_id, type AS kind, at, payload AS "payload!" FROM outbox
           WHERE position > $1 AND ($2::text IS NULL OR type = $2) AND ($3::uuid IS NULL OR tenant_id = $3)
             AND ($4::uuid[] IS NULL OR tenant_id = ANY ($4)) ORDER BY position LIMIT $5"#,
        after,
        filter.kind,
        filter.tenant_id.map(TenantId::uuid),
        reach.as_deref(),
        filter.limit,
    )
    .fetch_all(conn)
    .await?;
    let events = rows.into_iter().map(|row| Event {
        id: EventId::from_uuid(row.event_id),
        kind: row.kind,
        at: row.at,
        payload: row.payload,
    });
    Ok(events.collect())
}

async fn position(conn: &mut PgConnection, id: EventId, reach: Option<&[Uuid]>) -> Result<i64, Error> {
    let position = sqlx::query_scalar!(
        r#"SELECT position AS "position!" FROM outbox
           WHERE event_id = $1 AND position IS NOT NULL AND ($2::uuid[] IS NULL OR tenant_id = ANY ($2))"#,
        id.uuid(),
        reach,
    )
    .fetch_one(conn)
    .await?;
    Ok(position)
}

/// Milliseconds since the oldest event that waits; zero where none does.
///
/// # Errors
/// Those of Postgres.
pub async fn lag_ms(conn: &mut PgConnection) -> Result<i64, Error> {
    let lag = sqlx::query_scalar!(
        r#"SELECT (extract(epoch FROM coalesce(clock_timestamp() - min(at), interval '0')) * 1000)::bigint AS "lag!"
           FROM outbox WHERE position IS NULL"#
    );
    Ok(lag.fetch_one(conn).await?)
}
