//! Start, and an orderly stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;
use domain::api_key::SecretKey;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};
use quota::Quota;
use store::Store;
use store::seal::Sealer;
use tokio::net::TcpListener;
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::address::Ranges;
use crate::app::App;
use crate::catalog::Catalog;
use crate::config::Config;
use crate::health::{Health, HealthConfig};
use crate::keys::KeyCache;
use crate::report::Refused;
use crate::tls::Tls;
use crate::tokens::Vocabularies;
use crate::{announce, changes, report, router, serve};

/// Once streams were told to end, they get this long to say goodbye.
const GOODBYE: Duration = Duration::from_secs(5);
/// Finished requests get this long to be recorded.
const RECORD_WITHIN: Duration = Duration::from_secs(15);

/// A gateway that runs.
pub struct Server {
    app: Arc<App>,
    /// Where it listens.
    pub address: std::net::SocketAddr,
    stop_accepting: CancellationToken,
    stop_tasks: CancellationToken,
    connections: TaskTracker,
    tasks: TaskTracker,
}

impl Server {
    /// Connects to Postgres and Redis, reads the catalog, and accepts connections.
    ///
    /// # Errors
    /// What keeps it from starting, with the flag to change.
    pub async fn start(config: Config) -> anyhow::Result<Self> {
        // Unique for each start, so that a restart never beats for its predecessor.
        let start = uuid::Uuid::now_v7().simple();
        let gateway_id =
            config.gateway_id.as_ref().map_or_else(|| format!("gw-{start}"), |name| format!("{name}-{start}"));
        let quota = quota::Config::new(gateway_id, config.redis_url.clone());
        Self::start_with(config, quota).await
    }

    /// The same with other times of the quota's protocol than the design's.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub async fn start_with(config: Config, quota: quota::Config) -> anyhow::Result<Self> {
        let secret = SecretKey::from_base64(&config.secret_key)?;
        let quota = quota::Config {
            allowance_percent: config.outage_allowance_percent,
            outage_in_flight: config.outage_in_flight,
            ..quota
        };
        let gateway_id = quota.gateway_id.clone();
        let trusted_proxies = Ranges::parse(config.trusted_proxies.iter().map(String::as_str))
            .map_err(|why| anyhow::anyhow!("TOLLGATE_TRUSTED_PROXIES: {why}"))?;
        let vocabularies =
            Vocabularies::read(&config.tokenizers).map_err(|why| anyhow::anyhow!("TOLLGATE_TOKENIZERS: {why}"))?;
        let mut database = store::Config::new(&config.database_url, format!("tollgate-gateway {gateway_id}"));
        database.max_connections = config.database_connections;
        let store = Store::connect_waiting(&database).await.context("DATABASE_URL: can't connect to PostgreSQL")?;
        let quota = Quota::start(quota, store.clone()).await.context("REDIS_URL: can't start the ledger")?;
        let sealer = Sealer::with(&config.sealing_keys, &secret);
        let keys = Arc::new(KeyCache::new(store.clone(), config.cache_s));
        let catalog = Arc::new(Catalog::new(store.clone(), sealer.clone(), vocabularies));
        catalog.refresh().await.context("DATABASE_URL: can't read the catalog; has `tollgate migrate` run?")?;
        let tls = match (&config.tls_certificate, &config.tls_key) {
            (Some(certificate), Some(key)) => Some(Arc::new(Tls::read(certificate, key)?)),
            _ => None,
        };
        let listener = TcpListener::bind(config.listen)
            .await
            .with_context(|| format!("TOLLGATE_LISTEN: can't listen on {}", config.listen))?;
        let address = listener.local_addr()?;
        let (tasks, stop_tasks, changed) = (TaskTracker::new(), CancellationToken::new(), Arc::new(Notify::new()));
        tasks.spawn(changes::listen(store.clone(), Arc::clone(&keys), Arc::clone(&changed), stop_tasks.clone()));
        tasks.spawn(changes::refresh(Arc::clone(&catalog), changed, config.cache_s, stop_tasks.clone()));
        if let Some(tls) = &tls {
            tasks.spawn(Arc::clone(tls).follow(stop_tasks.clone()));
        }
        let bounds = serve::Bounds {
            connections: config.connections,
            header_timeout: config.header_timeout_s,
            header_bytes: config.header_bytes,
        };
        let health =
            Health::new(HealthConfig { eject_after: config.eject_after, pause: config.eject_s, park: config.park_s });
        let app = Arc::new(App {
            drains: Semaphore::new(config.abort_drains.min(Semaphore::MAX_PERMITS)),
            config,
            trusted_proxies,
            secret,
            store,
            sealer,
            gateway_id,
            quota,
            keys,
            catalog,
            health,
            calls: TaskTracker::new(),
            ending: CancellationToken::new(),
            accepting: AtomicBool::new(true),
            refused: Refused::default(),
            stopped: stop_tasks.clone(),
        });
        tasks.spawn(report::run(Arc::clone(&app)));
        let (stop_accepting, connections) = (CancellationToken::new(), TaskTracker::new());
        tasks.spawn(serve::serve(
            serve::Listener { tcp: listener, tls },
            router::router(Arc::clone(&app)),
            bounds,
            stop_accepting.clone(),
            connections.clone(),
        ));
        tracing::info!(%address, gateway_id = app.gateway_id, "the gateway listens");
        Ok(Self { app, address, stop_accepting, stop_tasks, connections, tasks })
    }

    /// Unready at once; running requests get their time, then their streams are ended cleanly; what is finished is recorded.
    pub async fn stop(self) {
        let config = &self.app.config;
        self.app.accepting.store(false, Ordering::Release);
        tokio::time::sleep(config.unready_s).await;
        self.stop_accepting.cancel();
        self.app.calls.close();
        self.connections.close();
        tracing::info!(
            calls = self.app.calls.len(),
            connections = self.connections.len(),
            "stopping; running requests go on for a while"
        );
        if tokio::time::timeout(config.drain_s, self.app.calls.wait()).await.is_err() {
            tracing::info!(calls = self.app.calls.len(), "the time is up; running streams are ended");
        }
        self.app.ending.cancel();
        let _ = tokio::time::timeout(GOODBYE, self.app.calls.wait()).await;
        let _ = tokio::time::timeout(GOODBYE, self.connections.wait()).await;
        let left = self.app.quota.shutdown(RECORD_WITHIN).await;
        if left > 0 {
            tracing::warn!(left, "requests are not recorded yet; the reconciler takes care of them");
        }
        self.stop_tasks.cancel();
        self.tasks.close();
        let _ = tokio::time::timeout(GOODBYE, self.tasks.wait()).await;
        tracing::info!("stopped");
    }
}

/// Serves Prometheus on a port of its own.
///
/// # Errors
/// The port is taken.
pub fn serve_metrics(config: &Config) -> anyhow::Result<()> {
    const SECONDS: [f64; 14] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0];
    const PERMILLE: [f64; 8] = [10.0, 50.0, 100.0, 300.0, 1_000.0, 3_000.0, 10_000.0, 100_000.0];
    PrometheusBuilder::new()
        .with_http_listener(config.metrics_listen)
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS)?
        .set_buckets_for_metric(Matcher::Suffix("_permille".to_owned()), &PERMILLE)?
        .install()
        .with_context(|| format!("TOLLGATE_METRICS_LISTEN: can't serve metrics on {}", config.metrics_listen))?;
    announce::metrics();
    Ok(())
}
