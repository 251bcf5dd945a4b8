//! The handle of an admitted request. It must be finished; dropping it unfinished is noticed and accounted by its last progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use domain::record::{Outcome, UsageRecord};
use domain::{Amount, LimitUse, Numbers, RequestId};
use store::record::OutcomeRow;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tracing::error;

use crate::admit::{Ask, Granted, empty_record};
use crate::live::Live;
use crate::recorder::Job;
use crate::{Quota, Unavailable};

/// Quota set aside for one running request.
#[derive(Debug)]
#[must_use = "a freeze must be finished: settled or rolled back"]
pub struct Freeze {
    pub(crate) quota: Quota,
    pub(crate) ask: Ask,
    pub(crate) live: Arc<Live>,
    pub(crate) extensions: AtomicU32,
    granted: Granted,
    finished: bool,
}

impl Freeze {
    pub(crate) const fn new(quota: Quota, ask: Ask, live: Arc<Live>, granted: Granted) -> Self {
        Self { quota, ask, live, extensions: AtomicU32::new(0), granted, finished: false }
    }

    /// What is set aside now.
    #[must_use]
    pub fn amount(&self) -> Amount {
        self.live.amount()
    }

    /// The request.
    #[must_use]
    pub fn request_id(&self) -> RequestId {
        self.live.request_id
    }

    /// Key, project and tenant right after the freeze.
    #[must_use]
    pub fn numbers(&self) -> &[Numbers] {
        &self.granted.numbers
    }

    /// Tokens reserved of the token rates at the freeze; those asked for where there is no such rate.
    #[must_use]
    pub const fn tokens(&self) -> i64 {
        self.granted.tokens
    }

    /// How far each limit of key, project and tenant was used up right after the freeze.
    #[must_use]
    pub fn limits(&self) -> &[LimitUse] {
        &self.granted.limits
    }

    /// How often it grew.
    #[must_use]
    pub fn extensions(&self) -> u32 {
        self.extensions.load(Ordering::Relaxed)
    }

    /// Charge of what was relayed so far, by the local count: the checkpoint that beats carry. Never lowers it.
    pub fn set_progress(&self, charged_so_far: Amount) {
        self.live.set_progress(charged_so_far);
    }

    /// Fires when beats reached neither Redis nor Postgres for half a lease: the upstream call must end.
    #[must_use]
    pub fn abort_signal(&self) -> CancellationToken {
        self.live.abort.clone()
    }

    /// True while the upstream may be called: beats (counted from sending) are younger than half a lease.
    #[must_use]
    pub fn may_start(&self) -> bool {
        !self.live.abort.is_cancelled() && self.live.since_beat() < self.quota.shared.config.lease / 2
    }

    /// Ends the request: settles it in Redis at once, by the record's tokens too, and queues its record. Final with the actual charge, or rolled back with zero.
    pub fn finish(mut self, outcome: Outcome, actual: Amount, record: UsageRecord) -> Pending {
        self.finished = true;
        Pending(self.queue(outcome, actual, record))
    }

    /// Ends a request that was never sent to a provider. Where neither Postgres nor Redis can hold anything of it, nothing is
    /// recorded.
    pub(crate) fn give_up(mut self, may_be_written: bool) {
        if may_be_written || self.live.is_in_redis() {
            let record = empty_record(&self.ask);
            drop(self.finish(Outcome::RolledBack, Amount::ZERO, record));
            return;
        }
        self.finished = true;
        self.live.confirming();
        self.quota.shared.release(&self.live, 0);
        self.quota.shared.live.remove(self.live.request_id);
    }

    fn queue(&self, outcome: Outcome, actual: Amount, mut record: UsageRecord) -> oneshot::Receiver<()> {
        let frozen = self.live.amount();
        record.frozen = frozen;
        record.extensions = self.extensions();
        record.overrun = actual > frozen;
        let amount = if outcome == Outcome::RolledBack { Amount::ZERO } else { actual };
        self.quota.shared.release(&self.live, amount.units());
        let tokens = record.usage.prompt_tokens().saturating_add(record.usage.completion_tokens());
        self.live
            .settle(amount, i64::try_from(tokens).unwrap_or(domain::amount::MAX_UNITS).min(domain::amount::MAX_UNITS));
        let row = OutcomeRow {
            request_id: self.live.request_id,
            tenant_id: self.live.tenant_id,
            scopes: self.live.scopes.clone(),
            outcome,
            amount,
            frozen,
            version: self.live.version,
            record,
        };
        let (done, receiver) = oneshot::channel();
        self.quota.shared.recorder.push(Job {
            row,
            live: Some(Arc::clone(&self.live)),
            done: Some(done),
            ended: std::time::Instant::now(),
        });
        receiver
    }
}

impl Drop for Freeze {
    fn drop(&mut self) {
        if self.finished {
            return;
        }
        error!(request_id = %self.live.request_id, "a freeze was dropped unfinished: accounted by its last progress");
        let progress = self.live.progress();
        let outcome = if progress.is_positive() { Outcome::Final } else { Outcome::RolledBack };
        let record = empty_record(&self.ask);
        drop(self.queue(outcome, progress, record));
    }
}

/// An outcome on its way to Postgres.
#[derive(Debug)]
pub struct Pending(oneshot::Receiver<()>);

impl Pending {
    /// Waits until Postgres holds the outcome and Redis was told. For tests and for a stop; a request never waits for it.
    ///
    /// # Errors
    /// The service stopped before.
    pub async fn recorded(self) -> Result<(), Unavailable> {
        self.0.await.map_err(|_| Unavailable::Busy("the service stopped before the outcome was recorded"))
    }
}
