//! Mails: one per person and event, and one per token that is mailed.

use domain::EventId;
use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Error;
use crate::webhook_deliveries::Next;

/// A mail to be sent now.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// Id.
    pub id: Uuid,
    /// The type of the event that it is about; `invitation` or `password_reset` of a token.
    pub kind: String,
    /// The event as callers read it; of a token, the person's role and until when it is good.
    pub payload: Value,
    /// The token's row, and its secret sealed for that.
    pub token: Option<(Uuid, Vec<u8>)>,
    /// The name of the tenant that it is about.
    pub tenant_name: Option<String>,
    /// To whom.
    pub email: String,
    /// `en` or `zh`.
    pub locale: String,
    /// Attempts made before.
    pub tries: u16,
}

/// Makes a mail for each person who is to know of one of the events, due at once. Told are the tenant's owners, of an
/// overdraft the platform's too; the platform's where the tenant has none. Of single keys nobody is told by mail, and
/// of a quota that is used up once, not for the threshold of 100 percent too.
///
/// # Errors
/// Those of Postgres.
pub async fn fan_out(conn: &mut PgConnection, events: &[EventId]) -> Result<u64, Error> {
    let events: Vec<Uuid> = events.iter().map(|id| id.uuid()).collect();
    let made = sqlx::query!(
        "INSERT INTO mail_deliveries (id, event_id, user_id, next_at)
         SELECT gen_random_uuid(), o.event_id, u.id, now() FROM outbox o
         JOIN users u ON u.status = 'active' AND (
             (u.role = 'tenant_owner' AND u.tenant_id = o.tenant_id)
             OR (u.role = 'owner' AND (o.type LIKE 'overdraft.%' OR NOT EXISTS (SELECT FROM users a
                 WHERE a.tenant_id = o.tenant_id AND a.role = 'tenant_owner' AND a.status = 'active'))))
         WHERE o.event_id = ANY ($1) AND coalesce(o.data -> 'scope' ->> 'kind', 'tenant') <> 'key'
           AND NOT (o.type = 'quota.low' AND (o.data ->> 'threshold_percent')::int >= 100) AND o.type IN
             ('quota.low', 'quota.exhausted', 'overdraft.started', 'overdraft.exhausted', 'endpoint.disabled')
         ORDER BY o.position ON CONFLICT DO NOTHING",
        &events,
    )
    .execute(conn)
    .await?;
    Ok(made.rows_affected())
}

/// Claims mails that are due. Whoever claims has `lease_ms`; after that the mail is due again.
///
/// # Errors
/// Those of Postgres.
pub async fn claim(conn: &mut PgConnection, limit: i64, lease_ms: i64) -> Result<Vec<Claimed>, Error> {
    let rows = sqlx::query!(
        r#"WITH due AS (
               SELECT id FROM mail_deliveries WHERE state = 'pending' AND next_at <= clock_timestamp()
               ORDER BY next_at LIMIT $1 FOR UPDATE SKIP LOCKED
           ), claimed AS (
               UPDATE mail_deliveries d SET next_at = clock_timestamp() + $2::bigint * interval '1 millisecond'
               FROM due WHERE d.id = due.id RETURNING d.id, d.event_id, d.token_id, d.user_id, d.tries
           )
           SELECT c.id AS "id!", c.tries AS "tries!", coalesce(o.type, m.purpose) AS "kind!",
                  coalesce(o.payload, jsonb_build_object('role', u.role, 'expires_at', m.expires_at)) AS "payload!",
                  m.id AS "token_id?", m.sealed_secret AS "sealed_secret?", t.name AS "tenant_name?",
                  u.email AS "email!", u.locale AS "locale!"
           FROM claimed c JOIN users u ON u.id = c.user_id LEFT JOIN outbox o ON o.event_id = c.event_id
           LEFT JOIN mailed_tokens m ON m.id = c.token_id
           LEFT JOIN tenants t ON t.id = CASE WHEN c.event_id IS NULL THEN u.tenant_id ELSE o.tenant_id END"#,
        limit,
        lease_ms,
    )
    .fetch_all(conn)
    .await?;
    let claimed = rows.into_iter().map(|row| Claimed {
        id: row.id,
        kind: row.kind,
        payload: row.payload,
        token: row.token_id.zip(row.sealed_secret),
        tenant_name: row.tenant_name,
        email: row.email,
        locale: row.locale,
        tries: u16::try_from(row.tries).unwrap_or_default(),
    });
    Ok(claimed.collect())
}

/// Writes an attempt down with what comes after it. The sealed secret of a token whose mail is sent goes.
///
/// # Errors
/// Those of Postgres.
pub async fn record(conn: &mut PgConnection, id: Uuid, attempt: &Value, next: Next) -> Result<(), Error> {
    sqlx::query!(
        "WITH done AS (
             UPDATE mail_deliveries SET state = $3, tries = tries + 1, attempts = attempts || jsonb_build_array($2::jsonb),
                    next_at = clock_timestamp() + $4::bigint * interval '1 millisecond' WHERE id = $1 RETURNING state, token_id
         )
         UPDATE mailed_tokens m SET sealed_secret = NULL FROM done WHERE m.id = done.token_id AND done.state = 'delivered'",
        id,
        attempt,
        next.state(),
        next.after_ms(),
    )
    .execute(conn)
    .await?;
    Ok(())
}
