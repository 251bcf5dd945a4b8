//! Beats: to Redis every freeze of this process, to Postgres one row; and the watch that ends calls when both fail.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use domain::Shard;
use futures_util::StreamExt;
use ledger::{Ledger, LedgerError};
use store::beats::Checkpoint;
use tokio::time::{Instant, MissedTickBehavior, interval};
use tracing::{debug, error};

use crate::Shared;
use crate::live::Live;

/// Shards beaten at the same time.
const PARALLEL: usize = 16;

/// Beats every live request in Redis, each interval.
pub(crate) async fn run_redis(shared: Arc<Shared>) {
    let mut ticks = interval(shared.config.beat_interval);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = shared.stop.cancelled() => return,
        }
        let mut shards: HashMap<Shard, Vec<Arc<Live>>> = HashMap::new();
        for live in shared.live.all() {
            shards.entry(Shard::of(live.home())).or_default().push(live);
        }
        futures_util::stream::iter(shards)
            .for_each_concurrent(PARALLEL, async |(shard, lives)| {
                if let Err(error) = beat_shard(&shared, &shared.ledger, shard, lives).await {
                    debug!(%error, "a beat was not answered");
                }
            })
            .await;
    }
}

/// Beats requests of one shard through `ledger`.
///
/// # Errors
/// Redis did not answer one of the calls.
pub(crate) async fn beat_shard(
    shared: &Shared,
    ledger: &Ledger,
    shard: Shard,
    lives: Vec<Arc<Live>>,
) -> Result<(), LedgerError> {
    let gate = shared.live.gate(shard);
    let mut failure = None;
    for chunk in lives.chunks(100) {
        let _held = gate.lock().await;
        let sent = Instant::now();
        // Read under the gate: a request that is being confirmed is left out, so that a beat never brings it back.
        let beaten: Vec<_> =
            chunk.iter().filter_map(|live| Some((live, live.entry(&shared.config.gateway_id)?))).collect();
        let entries: Vec<_> = beaten.iter().map(|(_, entry)| entry.clone()).collect();
        if entries.is_empty() {
            continue;
        }
        let answer = ledger.beat(shard, &entries).await;
        if !matches!(answer, Err(LedgerError::Away)) {
            beaten.iter().for_each(|(live, _)| live.sent());
        }
        match answer {
            Ok(()) => beaten.iter().for_each(|(live, _)| live.beaten(sent)),
            Err(error) if error.is_transient() => failure = Some(error),
            Err(error) => error!(%error, shard = shard.index(), "a beat was refused"),
        }
    }
    failure.map_or(Ok(()), Err)
}

/// Beats this gateway's row in Postgres, each interval.
pub(crate) async fn run_postgres(shared: Arc<Shared>) {
    let mut ticks = interval(shared.config.beat_interval);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = shared.stop.cancelled() => return,
        }
        let sent = Instant::now();
        let checkpoints = checkpoints(&shared);
        let beat = async {
            let mut connection = shared.store.acquire().await?;
            store::beats::beat(&mut connection, &shared.config.gateway_id, &checkpoints).await?;
            store::beats::live(&mut connection, shared.config.lease.as_secs_f64()).await
        };
        match tokio::time::timeout(shared.config.lease / 4, beat).await {
            Ok(Ok(gateways)) => {
                *shared.last_postgres_beat.lock() = sent;
                shared.outage.set_gateways(gateways);
            }
            Ok(Err(error)) => debug!(%error, "the gateway's row was not beaten"),
            Err(_) => debug!("the gateway's row was not beaten in time"),
        }
    }
}

/// The freezes that Redis never saw, or did not take a beat of for two intervals: Postgres carries them meanwhile.
fn checkpoints(shared: &Shared) -> Vec<Checkpoint> {
    let late = shared.config.beat_interval * 2;
    let all = shared.live.all();
    let late = all.iter().filter(|live| !live.is_in_redis() || live.since_beat() > late);
    late.filter_map(|live| live.entry(&shared.config.gateway_id))
        .map(|entry| Checkpoint { request_id: entry.request_id, progress: entry.progress })
        .collect()
}

/// Ends the upstream calls of requests whose beats reached neither Redis nor Postgres for half a lease: after a whole one the
/// reconciler may give their quota to others.
pub(crate) async fn watch(shared: Arc<Shared>) {
    let mut ticks = interval(Duration::from_millis(250).min(shared.config.lease / 8));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = shared.stop.cancelled() => return,
        }
        let half = shared.config.lease / 2;
        if shared.last_postgres_beat.lock().elapsed() < half {
            continue;
        }
        for live in shared.live.all() {
            if live.is_active() && live.since_beat() >= half && !live.abort.is_cancelled() {
                error!(request_id = %live.request_id, "beats reached neither Redis nor Postgres for half a lease: the call ends");
                live.abort.cancel();
            }
        }
    }
}
