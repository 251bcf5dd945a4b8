//! The breaker's keeper: opens it soon where Redis is away, probes each second, and closes it once Redis holds what runs.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use domain::{RequestId, Shard, Snapshot, TenantId};
use futures_util::future::join_all;
use ledger::{Breaker, Ledger, LedgerError};
use tracing::{debug, error, info, warn};

use crate::live::Live;
use crate::{Shared, beat};

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

/// One call was not answered: as many more as open the breaker, spread over the silence that it takes. So it is soon known
/// whether Redis is away, however few requests come.
async fn suspect(shared: &Shared, breaker: &Breaker) {
    let config = breaker.config();
    let count = u32::try_from(config.failures).unwrap_or(u32::MAX).clamp(1, 20);
    let pings = (0..count).map(|index| async move {
        tokio::time::sleep(config.silence / count * (index + 1)).await;
        shared.ledger.ping().await.is_ok()
    });
    let answered = join_all(pings).await.into_iter().filter(|answered| *answered).count();
    debug!(answered, count, "Redis did not answer a call in time; it was asked again");
    // What failed meanwhile has been looked into.
    let _ = tokio::time::timeout(Duration::ZERO, breaker.suspected()).await;
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
        shards.entry(Shard::of(live.tenant_id)).or_default().push(live);
    }
    for (shard, lives) in shards {
        beat::beat_shard(shared, probe, shard, lives).await?;
    }
    Ok(())
}

async fn install_recorded(shared: &Shared, probe: &Ledger) -> Result<(), LedgerError> {
    let noted = shared.outage.recorded.lock().clone();
    let mut tenants: HashMap<TenantId, Vec<Snapshot>> = HashMap::new();
    for (tenant, snapshot) in noted.into_values() {
        tenants.entry(tenant).or_default().push(snapshot);
    }
    for (tenant, snapshots) in tenants {
        for chunk in snapshots.chunks(100) {
            match probe.install(tenant, chunk).await {
                Err(error) if error.is_transient() => return Err(error),
                Err(error) => warn!(%error, %tenant, "totals could not be installed; the reconciler pushes them"),
                Ok(_) => {}
            }
        }
    }
    shared.outage.recorded.lock().clear();
    Ok(())
}
