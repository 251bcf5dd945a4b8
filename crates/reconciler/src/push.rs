//! Pushes accounts that changed in Postgres, so that a copy in Redis that is old but safe does not stay old.

use std::collections::BTreeMap;

use domain::{Home, Snapshot};
use ledger::Ledger;
use store::Store;

/// Accounts in one pass at most.
const LIMIT: i64 = 5_000;
/// Transactions that committed after a later `updated_at` was read are looked at again.
const OVERLAP_MS: i64 = 10_000;

/// One pass over accounts changed since `since_ms`, ms since 1970. Returns how many were pushed.
///
/// # Errors
/// Redis or Postgres gave no answer; the next pass takes the same accounts again.
pub async fn pass(ledger: &Ledger, store: &Store, since_ms: i64) -> anyhow::Result<usize> {
    let mut connection = store.acquire().await?;
    let changed = store::accounts::changed_since(&mut connection, since_ms - OVERLAP_MS, LIMIT).await?;
    let count = changed.len();
    let mut homes: BTreeMap<Home, Vec<Snapshot>> = BTreeMap::new();
    for (home, snapshot) in changed {
        homes.entry(home).or_default().push(snapshot);
    }
    for (home, snapshots) in homes {
        ledger.install(home, &snapshots).await?;
    }
    Ok(count)
}
