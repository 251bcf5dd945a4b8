//! The handle of an admitted request. It must be finished; dropping it unfinished is noticed and accounted by its last progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use domain::record::{Outcome, UsageRecord};
use domain::{Amount, Numbers, RequestId};
use store::record::OutcomeRow;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tracing::error;

use crate::admit::{Ask, empty_record};
use crate::live::Live;
use crate::recorder::Job;
use crate::{Quota, Unavailable};

/// Quota set aside for one running request.
#[derive(Debug)]
#[must_use = "a freeze must be finished: settled or rolled back"]
pub struct Freeze {
    pub(crate) quota: Quota,
    ask: Ask,
    pub(crate) live: Arc<Live>,
    pub(crate) extensions: AtomicU32,
    numbers: Vec<Numbers>,
    finished: bool,
}

impl Freeze {
    pub(crate) const fn new(quota: Quota, ask: Ask, live: Arc<Live>, numbers: Vec<Numbers>) -> Self {
        Self { quota, ask, live, extensions: AtomicU32::new(0), numbers, finished: false }
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
        &self.numbers
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

    /// Ends the request: settles it in Redis at once and queues its record. Final with the actual charge, or rolled back with zero.
    pub fn finish(mut self, outcome: Outcome, actual: Amount, record: UsageRecord) -> Pending {
        self.finished = true;
        Pending(self.queue(outcome, actual, record))
    }

    fn queue(&self, outcome: Outcome, actual: Amount, mut record: UsageRecord) -> oneshot::Receiver<()> {
        let frozen = self.live.amount();
        record.frozen = frozen;
        record.extensions = self.extensions();
        record.overrun = actual > frozen;
        let amount = if outcome == Outcome::RolledBack { Amount::ZERO } else { actual };
        self.live.settle(amount);
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
        self.quota.shared.recorder.push(Job { row, live: Some(Arc::clone(&self.live)), done: Some(done) });
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
