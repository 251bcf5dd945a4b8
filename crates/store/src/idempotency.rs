//! Idempotency keys: the key's row, the change and the stored reply commit together.

use serde_json::Value;
use sqlx::PgConnection;

use crate::Error;

/// What became of an attempt to claim a key.
#[derive(Debug, Clone, PartialEq)]
pub enum Claim {
    /// It is new: make the change, then [`complete`] in the same transaction.
    New,
    /// The same call was made before: this was its reply.
    Replay {
        /// HTTP status.
        status: u16,
        /// The stored reply.
        reply: Value,
    },
    /// The key was used for another operation or another body.
    Mismatch,
}

/// A call that carries an idempotency key.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// Who calls: keys of different callers never meet.
    pub caller: &'a str,
    /// The key.
    pub key: &'a str,
    /// Method and path.
    pub operation: &'a str,
    /// SHA-256 of the body.
    pub body_hash: &'a [u8],
}

/// Claims the key. While another transaction holds it, this waits for that one's end: a concurrent twin either replays
/// its reply or, where it rolled back, takes its place.
///
/// # Errors
/// `Unavailable` where the wait exceeds the lock time-out; others of Postgres.
pub async fn claim(conn: &mut PgConnection, call: Call<'_>) -> Result<Claim, Error> {
    let inserted = sqlx::query!(
        "INSERT INTO idempotency_keys (caller, key, operation, body_hash, status, reply)
         VALUES ($1, $2, $3, $4, 0, 'null') ON CONFLICT DO NOTHING",
        call.caller,
        call.key,
        call.operation,
        call.body_hash,
    )
    .execute(&mut *conn)
    .await?;
    if inserted.rows_affected() == 1 {
        return Ok(Claim::New);
    }
    let row = sqlx::query!(
        "SELECT operation, body_hash, status, reply FROM idempotency_keys WHERE caller = $1 AND key = $2",
        call.caller,
        call.key,
    )
    .fetch_one(conn)
    .await?;
    if row.operation != call.operation || row.body_hash != call.body_hash {
        return Ok(Claim::Mismatch);
    }
    let status = u16::try_from(row.status).map_err(|why| Error::corrupt("idempotency_keys.status", why))?;
    Ok(Claim::Replay { status, reply: row.reply })
}

/// Stores the reply of a claimed key.
///
/// # Errors
/// Those of Postgres.
pub async fn complete(conn: &mut PgConnection, call: Call<'_>, status: u16, reply: &Value) -> Result<(), Error> {
    sqlx::query!(
        "UPDATE idempotency_keys SET status = $3, reply = $4 WHERE caller = $1 AND key = $2",
        call.caller,
        call.key,
        i32::from(status),
        reply,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Removes keys of over 30 days, with their replies. Returns how many.
///
/// # Errors
/// Those of Postgres.
pub async fn remove_old(conn: &mut PgConnection) -> Result<u64, Error> {
    let done = sqlx::query!("DELETE FROM idempotency_keys WHERE created_at < now() - interval '30 days'");
    Ok(done.execute(conn).await?.rows_affected())
}
