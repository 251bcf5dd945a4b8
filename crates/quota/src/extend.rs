//! Growing a running request's freeze.

use std::time::Duration;

use domain::{Amount, Shard};
use ledger::{ExtendCall, ExtendOutcome, LedgerError};
use tokio::time::Instant;

use crate::{Freeze, Refusal, Unavailable};

/// What became of an extension.
#[derive(Debug)]
#[must_use]
pub enum Extension {
    /// The freeze is now this large: what was wanted, or what was left.
    Granted(Amount),
    /// A limit forbids even the least that was needed: end the stream.
    Refused(Box<Refusal>),
    /// A level was suspended, closed or halted meanwhile: end the stream.
    Inactive,
    /// Redis is away, and the tenant's outage steps or this gateway's share allow no more: end the stream.
    Away,
    /// No decision within the time allowed: end the stream when the freeze is used up.
    Unavailable,
}

impl Freeze {
    /// Grows the freeze to `want` in all, at least `need`. In a recovery window it waits, and as long for a Redis that is away
    /// where nothing else may pay for it.
    pub async fn extend(&self, want: Amount, need: Amount) -> Extension {
        let shared = &self.quota.shared;
        let end = Instant::now() + shared.config.admit_timeout;
        let patience = Instant::now() + shared.config.recovery_wait;
        let (mut waited, mut load) = (None, None);
        while Instant::now() < end {
            let call = ExtendCall {
                request_id: self.live.request_id,
                tenant_id: self.live.tenant_id,
                scopes: &self.live.scopes,
                want,
                need,
                waited: waited.as_ref(),
                load: load.as_ref(),
            };
            let outcome = match shared.ledger.extend(&call).await {
                Ok(outcome) => outcome,
                Err(LedgerError::Away) => match self.extend_without_ledger(want, need).await {
                    None => continue,
                    Some(Extension::Away) if Instant::now() < patience => {
                        tokio::time::sleep(Duration::from_millis(100)).await;
                        continue;
                    }
                    Some(decided) => {
                        self.grew(&decided);
                        return decided;
                    }
                },
                Err(error) if error.is_transient() => {
                    tokio::time::sleep(Duration::from_millis(25)).await;
                    continue;
                }
                Err(_) => return Extension::Unavailable,
            };
            match outcome {
                ExtendOutcome::Extended { amount, numbers } => {
                    shared.learn(&numbers, None);
                    self.live.grow(amount);
                    let granted = Extension::Granted(amount);
                    self.grew(&granted);
                    return granted;
                }
                ExtendOutcome::Refused(refused) => return Extension::Refused(Box::new(refused.into())),
                ExtendOutcome::Inactive { .. } => return Extension::Inactive,
                ExtendOutcome::Invalid => return Extension::Unavailable,
                ExtendOutcome::NeedLoad(ticket) => {
                    match shared
                        .load(ticket, self.live.home(), self.live.tenant_id, &self.live.scopes, load.as_ref())
                        .await
                    {
                        Ok(loaded) => load = Some(loaded),
                        Err(Unavailable::Store(error)) if error.is_transient() => {
                            tokio::time::sleep(Duration::from_millis(50)).await
                        }
                        Err(_) => return Extension::Unavailable,
                    }
                }
                ExtendOutcome::Recovering(window) => {
                    tokio::time::sleep(shared.config.recovery_wait).await;
                    (waited, load) = (Some(window), None);
                }
                // Redis lost it: beat it back, then ask again.
                ExtendOutcome::Gone => {
                    let Some(entry) = self.live.entry(&shared.config.gateway_id) else { return Extension::Unavailable };
                    let sent = Instant::now();
                    if shared.ledger.beat(Shard::of(self.live.home()), &[entry]).await.is_ok() {
                        self.live.beaten(sent);
                    }
                }
            }
        }
        Extension::Unavailable
    }

    fn grew(&self, extension: &Extension) {
        if matches!(extension, Extension::Granted(_)) {
            self.extensions.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
    }
}
