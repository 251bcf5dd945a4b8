//! Clearing a tenant's keys in Redis, so that its accounts may live elsewhere from then on.

use std::time::Duration;

use domain::{Home, Scope, TenantId};
use ledger::{Evicted, LedgerError};
use tokio::time::Instant;

use crate::{Quota, Unavailable};

/// Between two looks at what still runs.
const BETWEEN: Duration = Duration::from_millis(50);

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Cleared {
    /// Nothing of the tenant is frozen there, and its accounts are forgotten.
    Yes,
    /// So many requests of it still ran when the time was over.
    Busy(i64),
}

impl Quota {
    /// Waits (at most `within`) until nothing of the tenant is frozen among the keys of `home`, and forgets its accounts there in
    /// the same step. The tenant's own account must admit nothing meanwhile, in Postgres and in Redis.
    ///
    /// # Errors
    /// Redis gave no answer.
    pub async fn clear(
        &self,
        home: Home,
        tenant: TenantId,
        scopes: &[Scope],
        within: Duration,
    ) -> Result<Cleared, Unavailable> {
        let (end, mut waited) = (Instant::now() + within, None);
        loop {
            let busy = match self.shared.ledger.evict(home, tenant, scopes, waited.as_ref()).await {
                Ok(Evicted::Done) => return Ok(Cleared::Yes),
                Ok(Evicted::Recovering(window)) => {
                    tokio::time::sleep(self.shared.config.recovery_wait).await;
                    waited = Some(window);
                    continue;
                }
                Ok(Evicted::Busy(running)) => Cleared::Busy(running),
                Err(error @ (LedgerError::Unknown(_) | LedgerError::NotApplied(_))) if Instant::now() >= end => {
                    return Err(error.into());
                }
                Err(error) if error.is_transient() => Cleared::Busy(0),
                Err(error) => return Err(error.into()),
            };
            if Instant::now() >= end {
                return Ok(busy);
            }
            tokio::time::sleep(BETWEEN).await;
        }
    }
}
