//! Outcomes on their way: settle in Redis, record in Postgres (many in one transaction), confirm in Redis.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use domain::RequestId;
use ledger::LedgerError;
use store::record::{OutcomeRow, Recorded};
use tokio::sync::{mpsc, oneshot};
use tracing::{error, warn};

use crate::live::Live;
use crate::{Shared, outcomes};

/// Outcomes in one transaction at most.
const GROUP: usize = 256;
/// Transactions at the same time; a tenant always goes to the same one, so that they don't wait for each other's locks.
const WORKERS: usize = 4;

/// One outcome.
#[derive(Debug)]
pub(crate) struct Job {
    pub row: OutcomeRow,
    /// None where the freeze's own outcome is unknown.
    pub live: Option<Arc<Live>>,
    pub done: Option<oneshot::Sender<()>>,
    pub ended: Instant,
}

/// Where outcomes are put.
#[derive(Debug)]
pub(crate) struct Queue {
    senders: Vec<mpsc::UnboundedSender<Job>>,
    waiting: Arc<AtomicUsize>,
}

/// Bounded by `Config::max_backlog`: above it nothing more is admitted, but what was admitted is always taken.
pub(crate) fn queue() -> (Queue, Vec<mpsc::UnboundedReceiver<Job>>) {
    let (senders, receivers) = (0..WORKERS).map(|_| mpsc::unbounded_channel()).unzip();
    (Queue { senders, waiting: Arc::default() }, receivers)
}

impl Queue {
    pub fn push(&self, job: Job) {
        let mut hasher = DefaultHasher::new();
        job.row.tenant_id.hash(&mut hasher);
        let worker = usize::try_from(hasher.finish() % 4).unwrap_or_default();
        self.waiting.fetch_add(1, Ordering::Relaxed);
        metrics::gauge!("tollgate_gateway_record_backlog").increment(1);
        if self.senders[worker % WORKERS].send(job).is_err() {
            error!("an outcome came after the recorder had stopped; the reconciler will record it");
        }
    }

    pub fn backlog(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }
}

/// One worker: takes what is there, up to a group, and sees it through.
pub(crate) async fn run(shared: Arc<Shared>, mut jobs: mpsc::UnboundedReceiver<Job>) {
    let mut group = Vec::with_capacity(GROUP);
    loop {
        tokio::select! {
            taken = jobs.recv_many(&mut group, GROUP) => if taken == 0 { return },
            () = shared.stop.cancelled() => return,
        }
        let taken = group.len();
        tokio::select! {
            () = see_through(&shared, std::mem::take(&mut group)) => {}
            () = shared.stop.cancelled() => return,
        }
        shared.recorder.waiting.fetch_sub(taken, Ordering::Relaxed);
        metrics::gauge!("tollgate_gateway_record_backlog").decrement(u32::try_from(taken).unwrap_or(u32::MAX));
    }
}

async fn see_through(shared: &Arc<Shared>, jobs: Vec<Job>) {
    let rows: Vec<OutcomeRow> = jobs.iter().map(|job| job.row.clone()).collect();
    let entries: Vec<_> = jobs.iter().filter_map(|job| job.live.as_ref()?.entry(&shared.config.gateway_id)).collect();
    // The difference is available at once; the record may take its time. A lost settle is carried by the beats.
    let opened: Vec<_> = jobs
        .iter()
        .filter_map(|job| job.live.as_ref().filter(|live| live.is_opened))
        .map(|live| live.request_id)
        .collect();
    let record = record_until_done(shared, &rows, &opened);
    let (_, recorded) = tokio::join!(outcomes::settle(&shared.ledger, &entries), record);
    for (_, of) in &recorded.snapshots {
        shared.known.note(&of.scope, of.version, crate::Use { total: of.total, used: of.used });
    }
    for job in &jobs {
        metrics::histogram!("tollgate_gateway_record_lag_seconds").record(job.ended.elapsed());
        if let Some(live) = &job.live {
            live.confirming();
        }
    }
    let shared = Arc::clone(shared);
    let tasks = shared.tasks.clone();
    tasks.spawn(async move {
        let jobs = shared.to_confirm(&recorded, jobs).await;
        if !jobs.is_empty() {
            confirm_until_done(&shared, &recorded, &jobs).await;
        }
        jobs.into_iter().for_each(|job| shared.done(job));
    });
}

impl Shared {
    /// The request's outcome is recorded and Redis needs to be told nothing more of it.
    pub(crate) fn done(&self, job: Job) {
        if let Some(live) = &job.live {
            self.live.remove(live.request_id);
        }
        if let Some(done) = job.done {
            let _ = done.send(());
        }
    }

    /// One attempt, given up where Postgres fell silent.
    async fn record(&self, rows: &[OutcomeRow], opened: &[RequestId]) -> Result<Recorded, store::Error> {
        let record = outcomes::record_opened(&self.store, rows, opened);
        tokio::time::timeout(self.config.record_timeout, record).await.unwrap_or(Err(store::Error::Silent))
    }
}

/// Tries again until Postgres has it: an outcome is never given up. Its freeze goes on being beaten meanwhile.
async fn record_until_done(shared: &Shared, rows: &[OutcomeRow], opened: &[RequestId]) -> Recorded {
    let mut pause = Duration::from_millis(10);
    loop {
        match shared.record(rows, opened).await {
            Ok(recorded) => return recorded,
            Err(error) if error.is_transient() => {
                warn!(%error, outcomes = rows.len(), "outcomes could not be recorded yet")
            }
            Err(error) => {
                error!(%error, outcomes = rows.len(), "outcomes can't be recorded together; trying them one by one");
                return record_singly(shared, rows, opened).await;
            }
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_secs(2));
    }
}

/// So that one row that Postgres refuses does not hold up the others. That one stays for the reconciler and for people.
async fn record_singly(shared: &Shared, rows: &[OutcomeRow], opened: &[RequestId]) -> Recorded {
    let mut all = Recorded::default();
    for row in rows {
        let opened: Vec<_> = opened.iter().filter(|id| **id == row.request_id).copied().collect();
        let mut pause = Duration::from_millis(10);
        loop {
            match shared.record(std::slice::from_ref(row), &opened).await {
                Ok(recorded) => {
                    all.snapshots.retain(|(_, old)| !recorded.snapshots.iter().any(|(_, new)| new.scope == old.scope));
                    all.snapshots.extend(recorded.snapshots);
                    all.inserted.extend(recorded.inserted);
                    all.late.extend(recorded.late);
                    break;
                }
                Err(error) if error.is_transient() => {
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(Duration::from_secs(2));
                }
                Err(error) => {
                    error!(%error, request_id = %row.request_id, "an outcome can't be recorded");
                    break;
                }
            }
        }
    }
    all
}

async fn confirm_until_done(shared: &Shared, recorded: &Recorded, jobs: &[Job]) {
    let deletes = outcomes::deletes(jobs.iter().map(|job| &job.row));
    let mut pause = Duration::from_millis(25);
    for shard in outcomes::shards(&recorded.snapshots, &deletes) {
        // A beat under way that still carried these freezes is waited for: it must not come after the confirm.
        drop(shared.live.gate(shard).lock().await);
        while let Err(error) = outcomes::confirm(&shared.ledger, shard, &recorded.snapshots, &deletes).await {
            if shared.stop.is_cancelled() {
                return;
            }
            if matches!(error, LedgerError::Away) {
                tokio::select! {
                    () = shared.ledger.until_back() => continue,
                    () = shared.stop.cancelled() => return,
                }
            }
            warn!(%error, "outcomes could not be confirmed yet");
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(2));
        }
    }
}
