//! One row per process of a service: that it serves, and what it sees of others.

use serde_json::Value;
use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::Error;

/// A process' report.
#[derive(Debug, Clone)]
pub struct Report {
    /// Its id.
    pub id: String,
    /// `gateway` or `reconciler`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Of a gateway: `targets`, id -> until when it is tried last; `upstreams`, id -> until when it is parked.
    pub health: Value,
    /// When it reported.
    pub at: OffsetDateTime,
    /// Whether that is less than a minute ago, by Postgres' clock.
    pub is_fresh: bool,
}

/// Reports.
///
/// # Errors
/// Those of Postgres.
pub async fn report(conn: &mut PgConnection, id: &str, name: &str, version: &str, health: &Value) -> Result<(), Error> {
    sqlx::query!(
        "INSERT INTO service_reports (id, name, version, health) VALUES ($1, $2, $3, $4)
         ON CONFLICT (id) DO UPDATE SET version = excluded.version, health = excluded.health, at = now()",
        id,
        name,
        version,
        health,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Leaves: this process ends in an orderly way.
///
/// # Errors
/// Those of Postgres.
pub async fn leave(conn: &mut PgConnection, id: &str) -> Result<(), Error> {
    sqlx::query!("DELETE FROM service_reports WHERE id = $1", id).execute(conn).await?;
    Ok(())
}

/// Reports of the last hour, by name and id.
///
/// # Errors
/// Those of Postgres.
pub async fn all(conn: &mut PgConnection) -> Result<Vec<Report>, Error> {
    let reports = sqlx::query_as!(
        Report,
        r#"SELECT id, name, version, health, at, at > now() - interval '1 minute' AS "is_fresh!" FROM service_reports
           WHERE at > now() - interval '1 hour' ORDER BY name, id"#
    );
    Ok(reports.fetch_all(conn).await?)
}

/// Forgets processes that have not reported for an hour.
///
/// # Errors
/// Those of Postgres.
pub async fn forget_old(conn: &mut PgConnection) -> Result<u64, Error> {
    let done = sqlx::query!("DELETE FROM service_reports WHERE at < now() - interval '1 hour'").execute(conn).await?;
    Ok(done.rows_affected())
}
