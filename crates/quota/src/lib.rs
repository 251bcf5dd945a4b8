//! Where the ledger (Redis) and the store (Postgres) meet: admission, beats, settlement, record and confirm.
//!
//! The life of a request is `Quota::admit` -> a [`Freeze`] -> `Freeze::finish`. Between admission and the confirm of its
//! outcome every request is beaten every 2 s; see docs of the ledger for why. While Redis is away the module `outage` decides. It deliberately does not know HTTP, prices or
//! models: it sees amounts, scopes and records.
//!
//! To add a step: a module here that calls one script's twin and, where money moves, one store transaction.

mod admit;
mod beat;
pub mod books;
mod config;
mod extend;
mod freeze;
mod known;
mod live;
mod load;
mod lower;
mod moving;
mod outage;
pub mod outcomes;
mod push;
pub mod reconcile;
mod recorder;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ledger::{Breaker, Ledger};
use store::Store;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use admit::{Admission, Ask, Refusal};
pub use config::Config;
pub use domain::{LimitUse, Numbers};
pub use extend::Extension;
pub use freeze::{Freeze, Pending};
pub use known::Use;
pub use ledger::{AccountState, Found};
pub use lower::Lowered;
pub use moving::Cleared;
pub use push::Pushed;

/// Why quota can't be decided now. The caller answers 503; nothing was charged.
#[derive(Debug, thiserror::Error)]
pub enum Unavailable {
    /// Redis gave no usable answer in time.
    #[error("the ledger is unavailable")]
    Ledger(#[from] ledger::LedgerError),
    /// Postgres gave no usable answer in time.
    #[error("the database is unavailable")]
    Store(#[from] store::Error),
    /// Redis is away, and the tenant's outage steps or this gateway's share do not admit the request.
    #[error("Redis is away: {0}")]
    Away(&'static str),
    /// The tenant has joined a pool or left it since its scopes were worked out: work them out again.
    #[error("the tenant's accounts have moved")]
    Moved,
    /// Too many outcomes wait for Postgres, or the service is stopping.
    #[error("{0}")]
    Busy(&'static str),
}

pub(crate) struct Shared {
    pub config: Config,
    pub ledger: Ledger,
    pub store: Store,
    pub live: live::Registry,
    pub known: known::Known,
    pub outage: outage::Outage,
    /// When the last beat that Postgres took was sent.
    pub last_postgres_beat: parking_lot::Mutex<tokio::time::Instant>,
    pub recorder: recorder::Queue,
    pub stopping: AtomicBool,
    pub stop: CancellationToken,
    pub tasks: TaskTracker,
}

/// The quota of all tenants. Cheap to clone.
#[derive(Clone)]
pub struct Quota {
    pub(crate) shared: Arc<Shared>,
}

impl std::fmt::Debug for Quota {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Quota").field("gateway_id", &self.shared.config.gateway_id).finish_non_exhaustive()
    }
}

impl Quota {
    /// Connects to Redis, loads the scripts and starts the tasks that beat and record.
    ///
    /// # Errors
    /// Why Redis can't be used.
    pub async fn start(config: Config, store: Store) -> Result<Self, Unavailable> {
        let ledger = Ledger::connect_waiting(&ledger::Config { lease: config.lease, ..config.ledger.clone() }).await?;
        Ok(Self::with(config, ledger, store))
    }

    /// For services that read and push and admit nothing: connects and loads the scripts, but beats nothing, so that it
    /// never counts as a gateway.
    ///
    /// # Errors
    /// Why Redis can't be used.
    pub async fn observe(config: Config, store: Store) -> Result<Self, Unavailable> {
        let ledger = Ledger::connect_waiting(&config.ledger).await?;
        Ok(Self { shared: share(config, ledger, store).0 })
    }

    /// The same as [`Quota::start`] on a ledger that is connected already, with the same lease.
    #[must_use]
    pub fn with(config: Config, ledger: Ledger, store: Store) -> Self {
        let breaker = Arc::new(Breaker::new(config.breaker));
        let (shared, receivers) = share(config, ledger.behind(Arc::clone(&breaker)), store);
        shared.tasks.spawn(outage::run(Arc::clone(&shared), breaker));
        for receiver in receivers {
            shared.tasks.spawn(recorder::run(Arc::clone(&shared), receiver));
        }
        shared.tasks.spawn(beat::run_redis(Arc::clone(&shared)));
        shared.tasks.spawn(beat::run_postgres(Arc::clone(&shared)));
        shared.tasks.spawn(beat::watch(Arc::clone(&shared)));
        Self { shared }
    }

    /// The ledger beneath.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.shared.ledger
    }

    /// The store beneath.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.shared.store
    }

    /// This process' id in Redis and Postgres.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.shared.config.gateway_id
    }

    /// How many freezes there are, of all gateways.
    ///
    /// # Errors
    /// Redis gave no answer.
    pub async fn live_freezes(&self) -> Result<u64, Unavailable> {
        let shards: Vec<domain::Shard> = domain::Shard::all().collect();
        let live = self.shared.ledger.live(&shards).await?;
        Ok(live.into_iter().filter_map(|count| u64::try_from(count).ok()).sum())
    }

    /// The version of Redis; None where it does not tell.
    ///
    /// # Errors
    /// Redis gave no answer.
    pub async fn redis_version(&self) -> Result<Option<String>, Unavailable> {
        Ok(self.shared.ledger.version().await?)
    }

    /// Requests that were admitted and are not confirmed yet.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.shared.live.len()
    }

    /// Outcomes that wait for Postgres.
    #[must_use]
    pub fn record_backlog(&self) -> usize {
        self.shared.recorder.backlog()
    }

    /// True while requests can be admitted: the service is not stopping, and Redis answers, or the breaker is open and the
    /// tenants' outage steps decide.
    pub async fn is_ready(&self) -> bool {
        let ledger = &self.shared.ledger;
        !self.shared.stopping.load(Ordering::Relaxed) && (ledger.ping().await.is_ok() || ledger.away_since().is_some())
    }

    /// True while Redis is away and nothing is asked of it.
    #[must_use]
    pub fn is_away(&self) -> bool {
        self.shared.ledger.away_since().is_some()
    }

    /// Admits nothing more, waits until every request is recorded and confirmed (at most `within`), then stops the tasks.
    /// Returns how many requests were left; the reconciler takes care of those.
    pub async fn shutdown(&self, within: Duration) -> usize {
        self.shared.stopping.store(true, Ordering::Relaxed);
        let end = tokio::time::Instant::now() + within;
        while self.shared.live.len() > 0 && tokio::time::Instant::now() < end {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        self.shared.stop.cancel();
        self.shared.tasks.close();
        let _ = tokio::time::timeout(Duration::from_secs(2), self.shared.tasks.wait()).await;
        self.shared.live.len()
    }
}

fn share(config: Config, ledger: Ledger, store: Store) -> (Arc<Shared>, Vec<mpsc::UnboundedReceiver<recorder::Job>>) {
    let (queue, receivers) = recorder::queue();
    let outage = outage::Outage::new(&config);
    let shared = Shared {
        config,
        ledger,
        store,
        live: live::Registry::default(),
        known: known::Known::default(),
        outage,
        last_postgres_beat: parking_lot::Mutex::new(tokio::time::Instant::now()),
        recorder: queue,
        stopping: AtomicBool::new(false),
        stop: CancellationToken::new(),
        tasks: TaskTracker::new(),
    };
    (Arc::new(shared), receivers)
}
