//! What the clock makes due for tenants that send no request: grants that begin, end or renew; and word of those that end soon.

use ledger::Ledger;
use store::Store;
use tracing::info;

/// Tenants in one pass at most.
const LIMIT: i64 = 200;

/// One pass. Returns how many tenants' totals changed.
///
/// # Errors
/// Redis or Postgres gave no answer; what is due stays due.
pub async fn pass(ledger: &Ledger, store: &Store) -> anyhow::Result<usize> {
    let mut connection = store.acquire().await?;
    let tenants = store::load::due_tenants(&mut connection, LIMIT).await?;
    let mut changed = 0;
    for tenant in tenants {
        let mut transaction = store.begin().await?;
        let Some(snapshot) = store::load::apply_due(&mut transaction, tenant).await? else { continue };
        transaction.commit().await?;
        changed += 1;
        info!(tenant_id = %tenant, version = snapshot.version, "grants that were due were applied");
        ledger.install(store::pools::home(&mut connection, tenant).await?, &[snapshot]).await?;
    }
    let mut transaction = store.begin().await?;
    let told = store::grants::expiring::tell(&mut transaction, LIMIT).await?;
    transaction.commit().await?;
    if told > 0 {
        info!(told, "grants that end soon were told");
    }
    Ok(changed)
}
