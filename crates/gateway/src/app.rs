//! What every request shares.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use domain::api_key::SecretKey;
use quota::Quota;
use store::Store;
use store::seal::Sealer;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::address::Ranges;
use crate::catalog::Catalog;
use crate::config::Config;
use crate::health::Health;
use crate::keys::KeyCache;
use crate::report::Refused;

/// The gateway's parts, shared by all requests.
pub struct App {
    /// Flags.
    pub config: Config,
    /// Proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Ranges,
    /// Hashes keys.
    pub secret: SecretKey,
    /// Postgres, for readiness and calls with an `Idempotency-Key`.
    pub store: Store,
    /// Seals replies that are kept.
    pub sealer: Sealer,
    /// This gateway's name, unique for each start.
    pub gateway_id: String,
    /// Freezes.
    pub quota: Quota,
    /// Keys in memory.
    pub keys: Arc<KeyCache>,
    /// Models in memory.
    pub catalog: Arc<Catalog>,
    /// How targets fare.
    pub health: Health,
    /// Every request that is admitted or may be: its accounting outlives its client.
    pub calls: TaskTracker,
    /// Places of streams that are read on after their client has left.
    pub drains: Semaphore,
    /// Cancelled when running streams must end.
    pub ending: CancellationToken,
    /// Requests that were not admitted, until they are reported.
    pub refused: Refused,
    /// Cancelled when the last request is recorded.
    pub stopped: CancellationToken,
    /// False from the first moment of a shutdown.
    pub accepting: AtomicBool,
}

impl App {
    /// May a load balancer send requests here?
    pub async fn is_ready(&self) -> bool {
        self.accepting.load(Ordering::Acquire) && self.quota.is_ready().await
    }
}
