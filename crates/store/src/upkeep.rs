//! Work on the database itself: partitions ahead of time, the lock that keeps one reconciler at work.

use sqlx::PgConnection;

use crate::Error;

/// Creates the monthly partitions of the coming months. Returns how many were made.
///
/// # Errors
/// What Postgres refused.
pub async fn ensure_partitions(conn: &mut PgConnection, months: i32) -> Result<i32, Error> {
    let made = sqlx::query_scalar!("SELECT ensure_partitions(now(), $1)", months).fetch_one(conn).await?;
    Ok(made.unwrap_or_default())
}

/// Takes the reconcilers' lock for this connection, if no other holds it. Lost with the connection.
///
/// # Errors
/// What Postgres refused.
pub async fn try_lead(conn: &mut PgConnection) -> Result<bool, Error> {
    let held =
        sqlx::query_scalar!("SELECT pg_try_advisory_lock(hashtext('tollgate.reconciler'))").fetch_one(conn).await?;
    Ok(held.unwrap_or_default())
}

/// Has this transaction written anything?
///
/// # Errors
/// What Postgres refused.
pub async fn has_written(conn: &mut PgConnection) -> Result<bool, Error> {
    let written =
        sqlx::query_scalar!("SELECT pg_current_xact_id_if_assigned() IS NOT NULL AS written").fetch_one(conn).await?;
    Ok(written.unwrap_or_default())
}
