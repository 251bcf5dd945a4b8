//! The breaker's keeper: opens it soon where Redis is away, probes each second, and closes it once Redis holds what runs.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use domain::{Home, RequestId, Shard, Snapshot};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use ledger::{Breaker, BreakerConfig, Ledger, LedgerError};
use tokio::time::Instant;
use tracing::{debug, error, info, warn};

use crate::live::Live;
use crate::{Shared, beat};

/// Pause between two suspicions.
const ASK_AGAIN: Duration = Duration::from_millis(50);

/// Until stopped.
pub(crate) async fn run(shared: Arc<Shared>, breaker: Arc<Breaker>) {
    metrics::gauge!("tollgate_gateway_breaker_state").set(0.0);
    loop {
        tokio::select! {
            () = shared.stop.cancelled() => return,
            () = breaker.until_open() => away(&shared, &breaker).await,
            () = breaker.suspected() => suspect(&shared, &breaker).await,
        }
    }
}

/// A call was not answered: Redis is asked as often as it takes to open the breaker. So it is soon known whether it is away,
/// however few requests come, and a process that is too busy to take its answers in time does not take that for an outage.
async fn suspect(shared: &Shared, breaker: &Breaker) {
    let (ledger, config) = (shared.ledger.clone(), breaker.config());
    // On a thread of its own, with a connection of its own: what keeps this runtime busy does not keep that one.
    let asked = tokio::task::spawn_blocking(move || is_there(&ledger, config)).await;
    match asked {
        Ok(Ok(true)) if breaker.was_mute() => {
            warn!("Redis answers, but not on this gateway's connection: it is made anew");
            if let Ok(fresh) = shared.ledger.probe() {
                shared.ledger.take_over(&fresh);
            }
        }
        Ok(Ok(true)) => debug!("a call was not answered in time, but Redis is there"),
        Ok(Ok(false)) => breaker.open(Instant::now()),
        Ok(Err(error)) => error!(%error, "it could not be found out whether Redis is there"),
        Err(error) => error!(%error, "it could not be found out whether Redis is there"),
    }
    tokio::time::sleep(ASK_AGAIN).await;
}

/// Asks up to `config.failures` times, spread; the first answer decides.
fn is_there(ledger: &Ledger, config: BreakerConfig) -> std::io::Result<bool> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(async {
        let mut asked: FuturesUnordered<_> = (0..config.failures)
            .map(|index| async move {
                tokio::time::sleep(config.spread / config.failures.max(1) * index).await;
                match ledger.probe() {
                    Ok(probe) => !matches!(probe.ping().await, Err(error) if error.is_unanswered()),
                    Err(_) => false,
                }
            })
            .collect();
        while let Some(answered) = asked.next().await {
            if answered {
                return true;
            }
        }
        false
    }))
}

/// From open to closed.
async fn away(shared: &Shared, breaker: &Breaker) {
    let since = breaker.opened();
    metrics::counter!("tollgate_gateway_breaker_opened_total").increment(1);
    error!(
        "REDIS IS AWAY: the breaker is open; requests are decided by their tenants' outage steps until Redis answers again"
    );
    while breaker.opened().is_some() {
        metrics::gauge!("tollgate_gateway_breaker_state").set(1.0);
        tokio::select! {
            () = shared.stop.cancelled() => return,
            () = tokio::time::sleep(shared.config.probe_interval) => {}
        }
        metrics::gauge!("tollgate_gateway_breaker_state").set(0.5);
        if let Err(error) = recover(shared, breaker).await {
            debug!(%error, "Redis is still away");
        }
    }
    metrics::gauge!("tollgate_gateway_breaker_state").set(0.0);
    let seconds = since.map(|since| since.elapsed().as_secs());
    info!(seconds, "Redis is back: running requests were beaten into it and the breaker is closed");
}

/// Closes the breaker if Redis answers: what runs is beaten into it, and the totals of what was recorded are installed, before
/// anything is frozen.
async fn recover(shared: &Shared, breaker: &Breaker) -> Result<(), LedgerError> {
    let probe = shared.ledger.probe()?;
    probe.ping().await?;
    probe.load_scripts().await?;
    let mut beaten = HashSet::new();
    beat_all(shared, &probe, &mut beaten).await?;
    // From here on nobody acts on the open breaker.
    let _gate = shared.outage.gate.write().await;
    beat_all(shared, &probe, &mut beaten).await?;
    install_recorded(shared, &probe).await?;
    shared.ledger.take_over(&probe);
    breaker.close();
    Ok(())
}

/// Beats every request that is not in `beaten` yet. What a beat carried once may be older by now; the next beat has the rest.
async fn beat_all(shared: &Shared, probe: &Ledger, beaten: &mut HashSet<RequestId>) -> Result<(), LedgerError> {
    let mut shards: HashMap<Shard, Vec<Arc<Live>>> = HashMap::new();
    for live in shared.live.all().into_iter().filter(|live| beaten.insert(live.request_id)) {
        shards.entry(Shard::of(live.home())).or_default().push(live);
    }
    for (shard, lives) in shards {
        beat::beat_shard(shared, probe, shard, lives).await?;
    }
    Ok(())
}

async fn install_recorded(shared: &Shared, probe: &Ledger) -> Result<(), LedgerError> {
    let noted = shared.outage.recorded.lock().clone();
    let mut homes: HashMap<Home, Vec<Snapshot>> = HashMap::new();
    for (home, snapshot) in noted.into_values() {
        homes.entry(home).or_default().push(snapshot);
    }
    for (home, snapshots) in homes {
        for chunk in snapshots.chunks(100) {
            match probe.install(home, chunk).await {
                Err(error) if error.is_transient() => return Err(error),
                Err(error) => warn!(%error, %home, "totals could not be installed; the reconciler pushes them"),
                Ok(_) => {}
            }
        }
    }
    shared.outage.recorded.lock().clear();
    Ok(())
}
