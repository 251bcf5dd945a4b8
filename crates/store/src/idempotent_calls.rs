//! Calls of the data plane with an `Idempotency-Key`: what became of the first one.
//!
//! The settlement is what decides. A row here says which request a key stands for; that request's outcome says whether it
//! is over, so a gateway that dies between any two steps leaves nothing that could be charged twice or block for ever.

use domain::{Amount, KeyId, RequestId};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Error;

/// A call that carries a key.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The API key: names of different API keys never meet.
    pub key_id: KeyId,
    /// SHA-256 of the idempotency key.
    pub name_hash: &'a [u8],
    /// SHA-256 of the route and the body.
    pub body_hash: &'a [u8],
    /// This request.
    pub request_id: RequestId,
    /// The gateway that runs it.
    pub gateway_id: &'a str,
}

/// What the key stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begun {
    /// This request: run it.
    New,
    /// Another one, which still runs or is not recorded yet.
    Running,
    /// Another body, or another route.
    Mismatch,
    /// Another one, whose reply is here.
    Replay {
        /// The first request.
        request_id: RequestId,
        /// HTTP status.
        status: u16,
        /// Of the reply.
        content_type: String,
        /// The body, sealed for the request's id.
        sealed: Vec<u8>,
    },
    /// Another one, which is over, without a reply that could be given again.
    Done {
        /// The first request.
        request_id: RequestId,
        /// What it was charged.
        charge: Amount,
    },
}

struct Row {
    body_hash: Vec<u8>,
    request_id: Uuid,
    status: Option<i16>,
    content_type: Option<String>,
    sealed_reply: Option<Vec<u8>>,
    outcome: Option<String>,
    charge: Option<i64>,
    is_abandoned: bool,
}

/// Claims the key for this request, or says what it stands for. A key older than a day is free, as is one whose request was
/// rolled back, or whose gateway has gone without a trace of the request.
///
/// # Errors
/// Those of Postgres.
pub async fn begin(conn: &mut PgConnection, call: Call<'_>) -> Result<Begun, Error> {
    if claim(conn, call).await? {
        return Ok(Begun::New);
    }
    let Some(row) = find(conn, call).await? else { return Ok(Begun::Running) }; // let go of just now
    if row.body_hash != call.body_hash {
        return Ok(Begun::Mismatch);
    }
    let request_id = RequestId::from_uuid(row.request_id);
    if let (Some(status), Some(content_type), Some(sealed)) = (row.status, row.content_type, row.sealed_reply) {
        let status = u16::try_from(status).map_err(|why| Error::corrupt("idempotent_calls.status", why))?;
        return Ok(Begun::Replay { request_id, status, content_type, sealed });
    }
    match row.outcome.as_deref() {
        Some("rolled_back") => take_over(conn, call, row.request_id).await,
        Some(_) => {
            let charge = Amount::new(row.charge.unwrap_or_default());
            let charge = charge.map_err(|why| Error::corrupt("settlements.amount", why))?;
            Ok(Begun::Done { request_id, charge })
        }
        None if row.is_abandoned => take_over(conn, call, row.request_id).await,
        None => Ok(Begun::Running),
    }
}

async fn claim(conn: &mut PgConnection, call: Call<'_>) -> Result<bool, Error> {
    let claimed = sqlx::query!(
        "INSERT INTO idempotent_calls (key_id, name_hash, body_hash, request_id, gateway_id) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (key_id, name_hash) DO UPDATE SET body_hash = excluded.body_hash, request_id = excluded.request_id,
                gateway_id = excluded.gateway_id, status = NULL, content_type = NULL, sealed_reply = NULL, created_at = now()
         WHERE idempotent_calls.created_at < now() - interval '24 hours'",
        call.key_id.uuid(),
        call.name_hash,
        call.body_hash,
        call.request_id.uuid(),
        call.gateway_id,
    )
    .execute(conn)
    .await?;
    Ok(claimed.rows_affected() == 1)
}

/// A gateway that has not beaten for five minutes is gone, and the reconciler has recorded what it left long ago.
async fn find(conn: &mut PgConnection, call: Call<'_>) -> Result<Option<Row>, Error> {
    let row = sqlx::query_as!(
        Row,
        r#"SELECT c.body_hash, c.request_id, c.status, c.content_type, c.sealed_reply,
                  (SELECT s.outcome FROM settlements s WHERE s.request_id = c.request_id AND s.kind = 0) AS outcome,
                  (SELECT sum(s.amount)::bigint FROM settlements s WHERE s.request_id = c.request_id) AS charge,
                  (c.created_at < now() - interval '5 minutes' AND NOT EXISTS (
                      SELECT FROM gateway_beats b
                      WHERE b.gateway_id = c.gateway_id AND b.at > now() - interval '5 minutes')) AS "is_abandoned!"
           FROM idempotent_calls c WHERE c.key_id = $1 AND c.name_hash = $2"#,
        call.key_id.uuid(),
        call.name_hash,
    )
    .fetch_optional(conn)
    .await?;
    Ok(row)
}

/// Of several retries at once one takes the place of the request that came to nothing.
async fn take_over(conn: &mut PgConnection, call: Call<'_>, from: Uuid) -> Result<Begun, Error> {
    let taken = sqlx::query!(
        "UPDATE idempotent_calls SET request_id = $4, gateway_id = $5, created_at = now()
         WHERE key_id = $1 AND name_hash = $2 AND request_id = $3",
        call.key_id.uuid(),
        call.name_hash,
        from,
        call.request_id.uuid(),
        call.gateway_id,
    )
    .execute(conn)
    .await?;
    Ok(if taken.rows_affected() == 1 { Begun::New } else { Begun::Running })
}

/// Keeps the reply, to be given again.
///
/// # Errors
/// Those of Postgres.
pub async fn keep(
    conn: &mut PgConnection,
    call: Call<'_>,
    status: u16,
    content_type: &str,
    sealed: &[u8],
) -> Result<(), Error> {
    let status = i16::try_from(status).map_err(|why| Error::corrupt("idempotent_calls.status", why))?;
    sqlx::query!(
        "UPDATE idempotent_calls SET status = $4, content_type = $5, sealed_reply = $6
         WHERE key_id = $1 AND name_hash = $2 AND request_id = $3",
        call.key_id.uuid(),
        call.name_hash,
        call.request_id.uuid(),
        status,
        content_type,
        sealed,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Lets the key go: this request came to nothing, and a retry is a new one.
///
/// # Errors
/// Those of Postgres.
pub async fn let_go(conn: &mut PgConnection, call: Call<'_>) -> Result<(), Error> {
    sqlx::query!(
        "DELETE FROM idempotent_calls WHERE key_id = $1 AND name_hash = $2 AND request_id = $3",
        call.key_id.uuid(),
        call.name_hash,
        call.request_id.uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Removes keys that are free by their age, with their replies. Returns how many.
///
/// # Errors
/// Those of Postgres.
pub async fn remove_old(conn: &mut PgConnection) -> Result<u64, Error> {
    let done = sqlx::query!("DELETE FROM idempotent_calls WHERE created_at < now() - interval '24 hours'");
    Ok(done.execute(conn).await?.rows_affected())
}
