//! The loop: each pass at its own interval, one reconciler at work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;
use ledger::Ledger;
use metrics::{counter, gauge};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};
use store::Store;
use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::compare::Comparer;
use crate::deliver::Delivery;
use crate::opened::Traces;
use crate::sweep::Sweeper;
use crate::windows::Windows;
use crate::{Config, announce, changes, due, moves, push, retention};

/// The histograms' bounds, as in the gateway.
const SECONDS: [f64; 14] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0];

/// Runs until SIGTERM or SIGINT.
///
/// # Errors
/// Redis' configuration would lose money, or a port can't be used.
pub async fn run(config: Config) -> anyhow::Result<()> {
    let stop = CancellationToken::new();
    tokio::spawn(stop_on_signal(stop.clone()));
    let ready = Arc::new(AtomicBool::new(false));
    let server = serve(&config, Arc::clone(&ready), stop.clone()).await?;
    let store = Store::connect_lazy(&store::Config::new(&config.database_url, "tollgate-reconciler"))?;
    let mut ledger_config = ledger::Config::new(&config.redis_url);
    ledger_config.command_timeout = Duration::from_secs(2);
    let ledger = loop {
        match Ledger::connect(&ledger_config).await {
            Ok(ledger) => break ledger,
            Err(error) if error.is_transient() => warn!(%error, "Redis is not reachable yet"),
            Err(error) => return Err(error.into()),
        }
        tokio::select! {
            () = tokio::time::sleep(Duration::from_secs(1)) => {}
            () = stop.cancelled() => return Ok(()),
        }
    };
    let delivery = Delivery::new(&config, ledger.clone(), store.clone())?;
    let delivering = tokio::spawn(delivery.run(stop.clone()));
    let reporting = tokio::spawn(tell(store.clone(), stop.clone()));
    while !stop.is_cancelled() {
        if let Err(error) = lead(&config, &ledger, &store, &ready, &stop).await {
            ready.store(false, Ordering::Relaxed);
            warn!(error = format!("{error:#}"), "the reconciler starts over");
        }
        tokio::select! {
            () = tokio::time::sleep(Duration::from_secs(1)) => {}
            () = stop.cancelled() => {}
        }
    }
    delivering.await?;
    reporting.await?;
    server.await?;
    Ok(())
}

/// Waits for the lock, then works as long as the connection that holds it lives.
async fn lead(
    config: &Config,
    ledger: &Ledger,
    store: &Store,
    ready: &AtomicBool,
    stop: &CancellationToken,
) -> anyhow::Result<()> {
    let mut lock = store.acquire().await?;
    ready.store(true, Ordering::Relaxed);
    while !store::upkeep::try_lead(&mut lock).await? {
        tokio::select! {
            () = tokio::time::sleep(Duration::from_secs(2)) => {}
            () = stop.cancelled() => return Ok(()),
        }
    }
    info!("this reconciler is at work");
    let (mut sweeper, mut traces, mut windows) = (Sweeper::default(), Traces::default(), Windows::default());
    let mut comparer = Comparer::new(config.compare_every);
    let (mut pushed_to, mut upkeep_at) = (0, Instant::now());
    let mut ticks = interval(Duration::from_millis(500).min(config.lease() / 8));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut due_at, mut pushed_at) = (Instant::now(), Instant::now());
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = stop.cancelled() => return Ok(()),
        }
        let closed = report("windows", windows.pass(ledger, config.recovery_wait()).await.map_err(Into::into));
        gauge!("tollgate_recovering_shards")
            .set(f64::from(u32::try_from(closed.unwrap_or_default()).unwrap_or(u32::MAX)));
        if let Some(swept) = report("sweep", sweeper.pass(ledger, store, config.lease()).await) {
            counter!("tollgate_phantom_freezes_found_total").increment(u64::try_from(swept.found)?);
            counter!("tollgate_phantom_freezes_healed_total").increment(u64::try_from(swept.healed)?);
        }
        if due_at.elapsed() >= Duration::from_secs(1).min(config.lease() / 4) {
            due_at = Instant::now();
            if let Some(count) = report("opened", traces.pass(ledger, store, &sweeper, config.lease()).await) {
                counter!("tollgate_opened_requests_expired_total").increment(u64::try_from(count)?);
            }
            report("due", due::pass(ledger, store).await);
            report("changes", changes::pass(ledger, store).await);
            report("moves", moves::pass(ledger, store).await);
        }
        if pushed_at.elapsed() >= Duration::from_secs(3) {
            pushed_at = Instant::now();
            let now_ms = report("clock", ledger.now_ms().await.map_err(Into::into));
            if let (Some(now_ms), Some(count)) = (now_ms, report("push", push::pass(ledger, store, pushed_to).await)) {
                counter!("tollgate_accounts_pushed_total").increment(u64::try_from(count)?);
                pushed_to = now_ms;
            }
            if let Some(keys) = report("size", ledger.size().await.map_err(Into::into)) {
                gauge!("tollgate_redis_keys").set(f64::from(u32::try_from(keys).unwrap_or(u32::MAX)));
            }
        }
        report("compare", comparer.pass(ledger, store).await);
        if upkeep_at <= Instant::now() {
            upkeep_at = Instant::now() + Duration::from_secs(3600);
            report("upkeep", upkeep(store).await);
        }
        // Also proves that the lock's connection still lives.
        store::upkeep::try_lead(&mut lock).await?;
    }
}

/// Tells the others that this process is there, at work or waiting for its turn.
async fn tell(store: Store, stop: CancellationToken) {
    let id = format!("reconciler-{}", uuid::Uuid::now_v7().simple());
    let mut ticks = interval(Duration::from_secs(5));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let is_over = tokio::select! {
            _ = ticks.tick() => false,
            () = stop.cancelled() => true,
        };
        let told = async {
            let mut connection = store.acquire().await?;
            if is_over {
                store::reports::leave(&mut connection, &id).await
            } else {
                let (version, health) = (env!("CARGO_PKG_VERSION"), serde_json::json!({}));
                store::reports::report(&mut connection, &id, "reconciler", version, &health).await
            }
        };
        let told = tokio::time::timeout(Duration::from_secs(5), told).await;
        if !matches!(told, Ok(Ok(()))) {
            tracing::debug!("the report was not written");
        }
        if is_over {
            return;
        }
    }
}

async fn upkeep(store: &Store) -> anyhow::Result<()> {
    let mut connection = store.acquire().await?;
    store::upkeep::ensure_partitions(&mut connection, 4).await?;
    store::beats::forget_old(&mut connection).await?;
    store::idempotency::remove_old(&mut connection).await?;
    store::idempotent_calls::remove_old(&mut connection).await?;
    store::reports::forget_old(&mut connection).await?;
    store::sessions::remove_old(&mut connection).await?;
    store::mailed_tokens::remove_old(&mut connection).await?;
    store::keys::remove_retired_secrets(&mut connection).await?;
    store::service_tokens::remove_retired_secrets(&mut connection).await?;
    let learnt = store::models::learn_outputs(&mut connection).await?;
    info!(models = learnt, "the lengths of answers were learnt");
    drop(connection);
    let removed = retention::pass(store).await?;
    if removed != retention::Removed::default() {
        info!(?removed, "what is old was removed");
    }
    counter!("tollgate_removed_total", "what" => "usage_records").increment(removed.usage_records);
    counter!("tollgate_removed_total", "what" => "events").increment(removed.events);
    counter!("tollgate_removed_total", "what" => "snapshots").increment(removed.snapshots);
    Ok(())
}

/// Counts and logs a failed pass; it is made again at its next turn.
fn report<T>(pass: &'static str, outcome: anyhow::Result<T>) -> Option<T> {
    match outcome {
        Ok(value) => {
            counter!("tollgate_reconciler_passes_total", "pass" => pass, "outcome" => "ok").increment(1);
            Some(value)
        }
        Err(error) => {
            counter!("tollgate_reconciler_passes_total", "pass" => pass, "outcome" => "error").increment(1);
            warn!(pass, error = format!("{error:#}"), "a pass failed");
            None
        }
    }
}

async fn serve(
    config: &Config,
    ready: Arc<AtomicBool>,
    stop: CancellationToken,
) -> anyhow::Result<tokio::task::JoinHandle<()>> {
    let recorder = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS)?
        .install_recorder()?;
    announce::metrics();
    let readiness = move || async move {
        if ready.load(Ordering::Relaxed) { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }
    };
    let router = Router::new()
        .route("/metrics", get(move || async move { recorder.render() }))
        .route("/healthz", get(|| async { "ok" }))
        .route("/readyz", get(readiness));
    let listener = tokio::net::TcpListener::bind(config.metrics_listen).await.map_err(|error| {
        anyhow::anyhow!("TOLLGATE_RECONCILER_METRICS_LISTEN: {} can't be used: {error}", config.metrics_listen)
    })?;
    Ok(tokio::spawn(async move {
        let served = axum::serve(listener, router).with_graceful_shutdown(async move { stop.cancelled().await }).await;
        if let Err(error) = served {
            warn!(%error, "the metrics port stopped");
        }
    }))
}

async fn stop_on_signal(stop: CancellationToken) {
    let terminate = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        () = terminate => {}
        _ = tokio::signal::ctrl_c() => {}
    }
    stop.cancel();
}
