//! Sessions of people. A refresh token is used once; an old one seen again ends its session.

use domain::ids::{SessionId, UserId};
use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::{Error, Window};

/// A session to be begun.
#[derive(Debug, Clone, Copy)]
pub struct NewSession<'a> {
    /// Whose.
    pub user_id: UserId,
    /// Hash of its first refresh token.
    pub refresh_hash: &'a [u8],
    /// From where.
    pub address: &'a str,
    /// The browser, as it calls itself.
    pub agent: &'a str,
    /// When it ends at the latest.
    pub expires_at: OffsetDateTime,
}

/// Begins a session.
///
/// # Errors
/// Those of Postgres.
pub async fn create(conn: &mut PgConnection, new: &NewSession<'_>) -> Result<SessionId, Error> {
    let id = SessionId::generate();
    sqlx::query!(
        "INSERT INTO sessions (id, user_id, refresh_hash, address, agent, expires_at) VALUES ($1, $2, $3, $4, $5, $6)",
        id.uuid(),
        new.user_id.uuid(),
        new.refresh_hash,
        new.address,
        new.agent,
        new.expires_at,
    )
    .execute(conn)
    .await?;
    Ok(id)
}

/// The person of a live session: not ended, not expired, the person active.
///
/// # Errors
/// `NotFound` where the session or the person is gone.
pub async fn live_user(conn: &mut PgConnection, id: SessionId) -> Result<UserId, Error> {
    let user = sqlx::query_scalar!(
        "SELECT u.id FROM sessions s JOIN users u ON u.id = s.user_id
         WHERE s.id = $1 AND s.ended_at IS NULL AND s.expires_at > now() AND u.status = 'active'",
        id.uuid(),
    )
    .fetch_one(conn)
    .await?;
    Ok(UserId::from_uuid(user))
}

/// What became of an attempt to rotate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rotation {
    /// The session goes on with the new token.
    Rotated {
        /// The session.
        session_id: SessionId,
        /// Whose.
        user_id: UserId,
    },
    /// The token was used before: someone has a copy, so the session was ended. Commit this.
    Reused {
        /// The session.
        session_id: SessionId,
        /// Whose.
        user_id: UserId,
    },
    /// No live session has this token.
    Unknown,
}

/// Exchanges a refresh token for a new one.
///
/// # Errors
/// Those of Postgres.
pub async fn rotate(conn: &mut PgConnection, old: &[u8], new: &[u8]) -> Result<Rotation, Error> {
    let rotated = sqlx::query!(
        "UPDATE sessions s SET refresh_hash = $2, last_seen_at = now() FROM users u
         WHERE s.refresh_hash = $1 AND s.ended_at IS NULL AND s.expires_at > now() AND u.id = s.user_id AND u.status = 'active'
         RETURNING s.id, s.user_id",
        old,
        new,
    )
    .fetch_optional(&mut *conn)
    .await?;
    if let Some(row) = rotated {
        sqlx::query!("INSERT INTO spent_refresh_tokens (refresh_hash, session_id) VALUES ($1, $2)", old, row.id)
            .execute(conn)
            .await?;
        return Ok(Rotation::Rotated {
            session_id: SessionId::from_uuid(row.id),
            user_id: UserId::from_uuid(row.user_id),
        });
    }
    let reused = sqlx::query!(
        "UPDATE sessions s SET ended_at = coalesce(s.ended_at, now()) FROM spent_refresh_tokens r
         WHERE r.refresh_hash = $1 AND s.id = r.session_id RETURNING s.id, s.user_id",
        old,
    )
    .fetch_optional(conn)
    .await?;
    Ok(reused.map_or(Rotation::Unknown, |row| Rotation::Reused {
        session_id: SessionId::from_uuid(row.id),
        user_id: UserId::from_uuid(row.user_id),
    }))
}

/// Ends a session. Ending it twice changes nothing.
///
/// # Errors
/// Those of Postgres.
pub async fn end(conn: &mut PgConnection, id: SessionId) -> Result<(), Error> {
    sqlx::query!("UPDATE sessions SET ended_at = now() WHERE id = $1 AND ended_at IS NULL", id.uuid())
        .execute(conn)
        .await?;
    Ok(())
}

/// True where this person signed in from this address within 30 days: the throttle on guesses from elsewhere spares it.
///
/// # Errors
/// Those of Postgres.
pub async fn knows_address(conn: &mut PgConnection, user: UserId, address: &str) -> Result<bool, Error> {
    let known = sqlx::query_scalar!(
        r#"SELECT EXISTS (SELECT FROM sessions WHERE user_id = $1 AND address = $2 AND created_at > now() - interval '30 days') AS "known!""#,
        user.uuid(),
        address,
    );
    Ok(known.fetch_one(conn).await?)
}

/// A session as its person sees it.
#[derive(Debug, Clone)]
pub struct Session {
    /// Id.
    pub id: SessionId,
    /// From where it was begun.
    pub address: String,
    /// The browser, as it calls itself.
    pub agent: String,
    /// When it was begun.
    pub created_at: OffsetDateTime,
    /// When it was begun or last refreshed.
    pub last_seen_at: OffsetDateTime,
}

/// Lists a person's live sessions.
///
/// # Errors
/// Those of Postgres.
pub async fn list(conn: &mut PgConnection, user: UserId, window: Window) -> Result<Vec<Session>, Error> {
    let rows = sqlx::query!(
        "SELECT id, address, agent, created_at, last_seen_at FROM sessions
         WHERE user_id = $1 AND ended_at IS NULL AND expires_at > now()
           AND ($2::uuid IS NULL OR CASE WHEN $3 THEN id > $2 ELSE id < $2 END)
         ORDER BY CASE WHEN $3 THEN id END, id DESC LIMIT $4",
        user.uuid(),
        window.after,
        window.ascending,
        window.limit,
    )
    .fetch_all(conn)
    .await?;
    let sessions = rows.into_iter().map(|row| Session {
        id: SessionId::from_uuid(row.id),
        address: row.address,
        agent: row.agent,
        created_at: row.created_at,
        last_seen_at: row.last_seen_at,
    });
    Ok(sessions.collect())
}

/// Ends a live session of that person.
///
/// # Errors
/// `NotFound` where the person has no such session.
pub async fn end_of(conn: &mut PgConnection, user: UserId, id: SessionId) -> Result<(), Error> {
    sqlx::query_scalar!(
        "UPDATE sessions SET ended_at = now() WHERE id = $1 AND user_id = $2 AND ended_at IS NULL AND expires_at > now()
         RETURNING id",
        id.uuid(),
        user.uuid(),
    )
    .fetch_one(conn)
    .await?;
    Ok(())
}

/// Ends every session of a person but one. Returns how many ended.
///
/// # Errors
/// Those of Postgres.
pub async fn end_others(conn: &mut PgConnection, user: UserId, keep: Option<SessionId>) -> Result<u64, Error> {
    let done = sqlx::query!(
        "UPDATE sessions SET ended_at = now() WHERE user_id = $1 AND ended_at IS NULL AND id IS DISTINCT FROM $2",
        user.uuid(),
        keep.map(SessionId::uuid),
    );
    Ok(done.execute(conn).await?.rows_affected())
}

/// Forgets sessions that ended, or would have, over 90 days ago. Returns how many.
///
/// # Errors
/// Those of Postgres.
pub async fn remove_old(conn: &mut PgConnection) -> Result<u64, Error> {
    let done = sqlx::query!("DELETE FROM sessions WHERE least(ended_at, expires_at) < now() - interval '90 days'");
    Ok(done.execute(conn).await?.rows_affected())
}
