//! Second factors: the sealed secrets of time-based one-time passwords, and recovery codes as keyed hashes.

use domain::ids::UserId;
use sqlx::PgConnection;

use crate::Error;

/// A person's second factor.
#[derive(Debug, Clone)]
pub struct Totp {
    /// The secret, sealed for the person's id.
    pub sealed_secret: Vec<u8>,
    /// Whether a first code was given; before, none is asked for.
    pub confirmed: bool,
}

/// Reads a person's second factor.
///
/// # Errors
/// `NotFound` where there is none.
pub async fn get(conn: &mut PgConnection, user: UserId) -> Result<Totp, Error> {
    let row = sqlx::query!(
        r#"SELECT sealed_secret, confirmed_at IS NOT NULL AS "confirmed!" FROM totp_secrets WHERE user_id = $1"#,
        user.uuid(),
    )
    .fetch_one(conn)
    .await?;
    Ok(Totp { sealed_secret: row.sealed_secret, confirmed: row.confirmed })
}

/// Begins a second factor, in place of one that was begun and not confirmed. False where one is confirmed: it stays.
///
/// # Errors
/// Those of Postgres.
pub async fn begin(conn: &mut PgConnection, user: UserId, sealed_secret: &[u8]) -> Result<bool, Error> {
    let done = sqlx::query!(
        "INSERT INTO totp_secrets (user_id, sealed_secret) VALUES ($1, $2)
         ON CONFLICT (user_id) DO UPDATE SET sealed_secret = $2, last_step = 0 WHERE totp_secrets.confirmed_at IS NULL",
        user.uuid(),
        sealed_secret,
    )
    .execute(conn)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Takes the code of a step, once: false where that one or a later one was taken before.
///
/// # Errors
/// Those of Postgres.
pub async fn take_step(conn: &mut PgConnection, user: UserId, step: i64) -> Result<bool, Error> {
    let done =
        sqlx::query!("UPDATE totp_secrets SET last_step = $2 WHERE user_id = $1 AND last_step < $2", user.uuid(), step);
    Ok(done.execute(conn).await?.rows_affected() == 1)
}

/// From now on codes are asked for. The recovery codes take the place of all that were there.
///
/// # Errors
/// Those of Postgres.
pub async fn confirm(conn: &mut PgConnection, user: UserId, code_hashes: &[Vec<u8>]) -> Result<(), Error> {
    sqlx::query!("UPDATE totp_secrets SET confirmed_at = now() WHERE user_id = $1", user.uuid())
        .execute(&mut *conn)
        .await?;
    sqlx::query!("DELETE FROM recovery_codes WHERE user_id = $1", user.uuid()).execute(&mut *conn).await?;
    sqlx::query!(
        "INSERT INTO recovery_codes (code_hash, user_id) SELECT h, $1 FROM unnest($2::bytea[]) AS h",
        user.uuid(),
        code_hashes,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Takes a recovery code, once: false where the person has no such code.
///
/// # Errors
/// Those of Postgres.
pub async fn take_recovery_code(conn: &mut PgConnection, user: UserId, code_hash: &[u8]) -> Result<bool, Error> {
    let done = sqlx::query!("DELETE FROM recovery_codes WHERE user_id = $1 AND code_hash = $2", user.uuid(), code_hash);
    Ok(done.execute(conn).await?.rows_affected() == 1)
}

/// Removes the second factor and its recovery codes. False where there was none.
///
/// # Errors
/// Those of Postgres.
pub async fn remove(conn: &mut PgConnection, user: UserId) -> Result<bool, Error> {
    sqlx::query!("DELETE FROM recovery_codes WHERE user_id = $1", user.uuid()).execute(&mut *conn).await?;
    let done = sqlx::query!("DELETE FROM totp_secrets WHERE user_id = $1", user.uuid()).execute(conn).await?;
    Ok(done.rows_affected() == 1)
}
