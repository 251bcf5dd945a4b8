//! Pushes accounts that changed in Postgres, so that a copy in Redis that is old but safe does not stay old.

use std::collections::BTreeMap;

use domain::{Snapshot, TenantId};
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
    let mut tenants: BTreeMap<TenantId, Vec<Snapshot>> = BTreeMap::new();
    for (tenant, snapshot) in changed {
        tenants.entry(tenant).or_default().push(snapshot);
    }
    for (tenant, snapshots) in tenants {
        ledger.install(tenant, &snapshots).await?;
    }
    Ok(count)
}
