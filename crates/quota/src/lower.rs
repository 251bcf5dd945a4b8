//! Testing a decrease that Postgres holds as pending.

use domain::{Amount, Numbers, Scope, TenantId};
use ledger::{Load, LowerCall, LowerOutcome, Ticket};
use tokio::time::Instant;

use crate::{Quota, Unavailable};

/// What the test found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Lowered {
    /// What is used and set aside fits below the lowered total: commit the decrease.
    Fits(Numbers),
    /// It does not: cancel it.
    Below(Numbers),
}

impl Quota {
    /// Brings the lowered limit of a pending decrease to every gateway and tests, in one step, whether what is used and set
    /// aside fits below the lowered total. Follows loads and recovery windows inside.
    ///
    /// # Errors
    /// No decision within the time of an admission: cancel the decrease.
    pub async fn lower(&self, tenant_id: TenantId, scope: &Scope, by: Amount) -> Result<Lowered, Unavailable> {
        let shared = &self.shared;
        let scopes = std::slice::from_ref(scope);
        let home = shared.home(tenant_id).await?;
        let end = Instant::now() + shared.config.admit_timeout;
        // Without a ticket a snapshot only takes the place of an older one.
        let no_ticket = Ticket { window: String::new(), evictions: String::new() };
        let mut load = Load { ticket: no_ticket, snapshots: shared.snapshots(scopes).await? };
        let mut waited = None;
        while Instant::now() < end {
            let call = LowerCall { home, scope, by, waited: waited.as_ref(), load: &load };
            match shared.ledger.lower(&call).await {
                Ok(LowerOutcome::Fits(numbers)) => return Ok(Lowered::Fits(numbers)),
                Ok(LowerOutcome::Below(numbers)) => return Ok(Lowered::Below(numbers)),
                Ok(LowerOutcome::NeedLoad(ticket)) => {
                    load = shared.load(ticket, home, tenant_id, scopes, Some(&load)).await?;
                }
                Ok(LowerOutcome::Recovering(window)) => {
                    tokio::time::sleep(shared.config.recovery_wait).await;
                    waited = Some(window);
                }
                Ok(LowerOutcome::Invalid) => return Err(Unavailable::Busy("the account has no total to lower")),
                Err(error) if error.is_transient() => {
                    tokio::time::sleep(std::time::Duration::from_millis(25)).await;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(Unavailable::Busy("no decision in time"))
    }
}
