//! Growing a running request without the ledger: out of the same share.

use domain::Amount;
use domain::settings::{OutageMode, OutageStep};

use super::known::Wish;
use crate::{Extension, Freeze};

impl Freeze {
    /// Grows by the tenant's outage steps. None: the ledger is back.
    pub(crate) async fn extend_without_ledger(&self, want: Amount, need: Amount) -> Option<Extension> {
        let shared = &self.quota.shared;
        let _gate = shared.outage.gate.read().await;
        let since = shared.ledger.away_since()?;
        let mode = OutageStep::at(&self.ask.outage, since.elapsed().as_secs());
        let has = self.live.amount();
        if want <= has {
            return Some(Extension::Granted(has));
        }
        let mut accounts = shared.outage.accounts.lock();
        if mode == OutageMode::Deny || !accounts.knows(&self.ask.scopes[2]) {
            return Some(Extension::Away);
        }
        let wish = Wish {
            scopes: &self.ask.scopes,
            want: want.units() - has.units(),
            need: need.units() - has.units(),
            has: has.units(),
            is_bounded: mode != OutageMode::Bypass,
        };
        match accounts.take(wish, shared.outage.portion()) {
            Ok(taken) => {
                let amount = has.saturating_add(Amount::new(taken.units).unwrap_or(Amount::ZERO));
                self.live.grow(amount);
                self.live.taken.lock().add(taken);
                Some(Extension::Granted(amount))
            }
            Err(refusal) if refusal.limit == "quota" => Some(Extension::Away),
            Err(refusal) => Some(Extension::Refused(refusal)),
        }
    }
}
