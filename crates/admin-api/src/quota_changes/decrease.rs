//! The steps of a decrease before it is committed: pending in Postgres, tested in Redis, or cancelled.
//!
//! Their transactions come out of the quota's own pool: the call holds a connection of the main one meanwhile, and calls that
//! wait for a second one of the same pool would wait for each other.

use std::time::Duration;

use api_types::{Decimal, Numbers};
use domain::{Amount, Unit};
use quota::Lowered;
use store::quota_changes::NewChange;

use crate::app::App;
use crate::error::{Error, Result};
use crate::force;

/// How often another decrease of the same scope is waited for, and how long each time.
const TRIES: u32 = 40;
const PAUSE: Duration = Duration::from_millis(100);

/// Lowers the limit and tests what is used and in flight against it. Where it fails nothing is pending any more.
///
/// # Errors
/// 409 `below_committed` with the numbers; 409 where another decrease is under way for long; 503 where Redis is away.
pub(super) async fn pend(app: &App, change: &NewChange, unit: Unit) -> Result<()> {
    begin(app, change).await?;
    let by = Amount::ZERO.checked_sub(change.delta).map_err(Error::internal)?;
    let tested = app.quota().lower(change.tenant_id, &change.scope, by).await;
    match tested {
        Ok(Lowered::Fits(_)) => Ok(()),
        Ok(Lowered::Below(found)) => {
            cancel(app, change).await;
            Err(below_found(&found, unit))
        }
        Err(cause) => {
            cancel(app, change).await;
            tracing::warn!(%cause, change = %change.id, "a decrease could not be tested");
            Err(Error::unavailable("what is in flight can't be read at the moment, so nothing was lowered; try again"))
        }
    }
}

async fn begin(app: &App, change: &NewChange) -> Result<()> {
    for _ in 0..TRIES {
        let mut tx = app.quota().store().begin().await?;
        match store::quota_changes::begin(&mut tx, change).await {
            Ok(_) => return Ok(tx.commit().await.map_err(store::Error::from)?),
            Err(store::Error::AlreadyExists { .. }) => {
                drop(tx);
                tokio::time::sleep(PAUSE).await;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Err(Error::conflict("another decrease of this quota is under way; try again"))
}

/// Gives the limit back, here or (where that fails) by the reconciler a little later.
pub(super) async fn cancel(app: &App, change: &NewChange) {
    let cancelled = async {
        let mut tx = app.quota().store().begin().await?;
        store::quota_changes::cancel(&mut tx, change.id).await?;
        tx.commit().await.map_err(store::Error::from)
    };
    match cancelled.await {
        Ok(()) => {
            force::push(app, change.tenant_id, std::slice::from_ref(&change.scope)).await;
        }
        Err(cause) => tracing::warn!(%cause, change = %change.id, "a decrease could not be cancelled yet"),
    }
}

/// What does not fit, by the API's numbers.
pub(super) fn below(numbers: &Numbers) -> Error {
    refusal(serde_json::to_value(numbers).unwrap_or_default())
}

/// The same by what the test read: the four numbers of one instant.
fn below_found(numbers: &domain::Numbers, unit: Unit) -> Error {
    let decimal = |amount: Amount| Decimal::of(amount, unit);
    refusal(serde_json::json!({
        "unit": unit, "total": numbers.total.map(decimal), "used": decimal(numbers.used), "frozen": decimal(numbers.frozen),
        "remaining": numbers.remaining().map(decimal), "version": numbers.version,
    }))
}

fn refusal(quota: serde_json::Value) -> Error {
    let remedy = "lower by at most `remaining`, or wait until what is in flight has ended";
    Error::new(http::StatusCode::CONFLICT, "below_committed", "the total would be below what is used and in flight")
        .with("quota", quota)
        .with("remedy", remedy)
}
