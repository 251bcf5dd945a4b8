//! Decreases whose maker is gone: their limit is given back.

use ledger::Ledger;
use store::Store;
use tracing::warn;

/// A decrease is tested and decided within this; an admission's time and a recovery window are well below it.
const STALE_S: f64 = 60.0;

/// One pass. Returns how many were cancelled.
///
/// # Errors
/// Redis or Postgres gave no answer; what is stale stays stale.
pub async fn pass(ledger: &Ledger, store: &Store) -> anyhow::Result<usize> {
    older_than(ledger, store, STALE_S).await
}

/// The same for decreases older than `seconds`.
///
/// # Errors
/// As [`pass`].
pub async fn older_than(ledger: &Ledger, store: &Store, seconds: f64) -> anyhow::Result<usize> {
    let stale = {
        let mut connection = store.acquire().await?;
        store::quota_changes::stale(&mut connection, seconds).await?
    };
    let mut cancelled = 0;
    for id in stale {
        let mut transaction = store.begin().await?;
        let Some((tenant, snapshot)) = store::quota_changes::cancel(&mut transaction, id).await? else { continue };
        transaction.commit().await?;
        cancelled += 1;
        warn!(tenant_id = %tenant, scope = %snapshot.scope, change = %id, "a decrease that was never decided was cancelled");
        ledger.install(store::pools::home(&mut *store.acquire().await?, tenant).await?, &[snapshot]).await?;
    }
    Ok(cancelled)
}
