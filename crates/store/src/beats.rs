//! One row per gateway, beaten beside Redis: the reconciler expires nothing of a gateway that still beats here.

use domain::{Amount, RequestId};
use sqlx::PgConnection;

use crate::Error;

/// A running freeze that Redis takes no beat of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checkpoint {
    /// The request.
    pub request_id: RequestId,
    /// Its charge so far.
    pub progress: Amount,
}

/// A gateway's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beat {
    /// The gateway.
    pub gateway_id: String,
    /// Grows with every beat.
    pub beat: i64,
    /// What it keeps alive here.
    pub checkpoints: Vec<Checkpoint>,
}

/// Beats `gateway_id`'s row.
///
/// # Errors
/// What Postgres refused.
pub async fn beat(conn: &mut PgConnection, gateway_id: &str, checkpoints: &[Checkpoint]) -> Result<(), Error> {
    let list: Vec<serde_json::Value> = checkpoints
        .iter()
        .map(|checkpoint| serde_json::json!([checkpoint.request_id.to_string(), checkpoint.progress.units()]))
        .collect();
    sqlx::query!(
        "INSERT INTO gateway_beats (gateway_id, beat, checkpoints) VALUES ($1, 1, $2)
         ON CONFLICT (gateway_id) DO UPDATE SET beat = gateway_beats.beat + 1, checkpoints = excluded.checkpoints, at = now()",
        gateway_id,
        serde_json::Value::Array(list)
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// How many gateways have beaten within `within_s` seconds, by Postgres' clock.
///
/// # Errors
/// What Postgres refused.
pub async fn live(conn: &mut PgConnection, within_s: f64) -> Result<i64, Error> {
    let count = sqlx::query_scalar!(
        r#"SELECT count(*) AS "count!" FROM gateway_beats WHERE at > clock_timestamp() - make_interval(secs => $1)"#,
        within_s
    )
    .fetch_one(conn)
    .await?;
    Ok(count)
}

/// Every gateway's row.
///
/// # Errors
/// What Postgres refused, or a stored value that can't be read.
pub async fn all(conn: &mut PgConnection) -> Result<Vec<Beat>, Error> {
    let rows = sqlx::query!("SELECT gateway_id, beat, checkpoints FROM gateway_beats").fetch_all(conn).await?;
    rows.into_iter()
        .map(|row| {
            let list: Vec<(RequestId, i64)> = serde_json::from_value(row.checkpoints)
                .map_err(|error| Error::corrupt("gateway_beats.checkpoints", error))?;
            let checkpoints = list
                .into_iter()
                .map(|(request_id, units)| Ok(Checkpoint { request_id, progress: Amount::new(units)? }))
                .collect::<Result<_, domain::amount::AmountError>>()
                .map_err(|error| Error::corrupt("gateway_beats.checkpoints", error))?;
            Ok(Beat { gateway_id: row.gateway_id, beat: row.beat, checkpoints })
        })
        .collect()
}

/// Forgets gateways that have not beaten for a day.
///
/// # Errors
/// What Postgres refused.
pub async fn forget_old(conn: &mut PgConnection) -> Result<u64, Error> {
    let done = sqlx::query!("DELETE FROM gateway_beats WHERE at < now() - interval '1 day'").execute(conn).await?;
    Ok(done.rows_affected())
}
