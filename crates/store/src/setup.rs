//! The one-time token for the first administrator.

use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::Error;

/// Stores a token's hash. Several may be valid at once (one per instance that started); all go with the first use.
///
/// # Errors
/// Those of Postgres.
pub async fn add_token(conn: &mut PgConnection, secret_hash: &[u8], expires_at: OffsetDateTime) -> Result<(), Error> {
    sqlx::query!("DELETE FROM setup_tokens WHERE expires_at < now()").execute(&mut *conn).await?;
    sqlx::query!("INSERT INTO setup_tokens (secret_hash, expires_at) VALUES ($1, $2)", secret_hash, expires_at)
        .execute(conn)
        .await?;
    Ok(())
}

/// Uses a token up, and every other with it. True where it was valid. The row locks make a concurrent second use fail.
///
/// # Errors
/// Those of Postgres.
pub async fn consume_token(conn: &mut PgConnection, secret_hash: &[u8]) -> Result<bool, Error> {
    let used = sqlx::query!("DELETE FROM setup_tokens WHERE secret_hash = $1 AND expires_at > now()", secret_hash)
        .execute(&mut *conn)
        .await?;
    if used.rows_affected() == 0 {
        return Ok(false);
    }
    sqlx::query!("DELETE FROM setup_tokens").execute(conn).await?;
    Ok(true)
}

/// Serialises set-ups until the transaction's end, so that two tokens can't make two first administrators.
///
/// # Errors
/// Those of Postgres.
pub async fn lock(conn: &mut PgConnection) -> Result<(), Error> {
    sqlx::query!("SELECT pg_advisory_xact_lock(hashtext('tollgate.setup'))").execute(conn).await?;
    Ok(())
}
