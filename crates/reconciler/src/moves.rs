//! Moves into pools and out of them whose maker is gone: the tenant stays where it is and admits again.

use domain::Scope;
use ledger::Ledger;
use store::Store;
use tracing::warn;

/// A move waits for running calls for some seconds; a recovery window and an admission's time are well below this.
const STALE_S: i32 = 60;

/// One pass. Returns how many were undone.
///
/// # Errors
/// Redis or Postgres gave no answer; what is stale stays stale.
pub async fn pass(ledger: &Ledger, store: &Store) -> anyhow::Result<usize> {
    older_than(ledger, store, STALE_S).await
}

/// The same for moves older than `seconds`.
///
/// # Errors
/// As [`pass`].
pub async fn older_than(ledger: &Ledger, store: &Store, seconds: i32) -> anyhow::Result<usize> {
    let stale = store::pools::stale_moves(&mut *store.acquire().await?, seconds).await?;
    let mut undone = 0;
    for tenant in stale {
        let mut transaction = store.begin().await?;
        if !store::pools::cancel_move(&mut transaction, tenant).await? {
            continue;
        }
        transaction.commit().await?;
        undone += 1;
        warn!(tenant_id = %tenant, "a move into a pool or out of one that was never finished was undone");
        let mut connection = store.acquire().await?;
        let snapshots = store::accounts::snapshots(&mut connection, &[Scope::Tenant(tenant)]).await?;
        let home = store::pools::home(&mut connection, tenant).await?;
        drop(connection);
        ledger.install(home, &snapshots).await?;
    }
    Ok(undone)
}
