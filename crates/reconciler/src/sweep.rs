//! Phantom freezes: those whose gateway is gone.
//!
//! A freeze whose beat has not changed for a lease, by this process' own monotonic clock, is recorded with its last
//! checkpoint and outcome `expired`; a settled one with its actual charge. A restarted reconciler needs a full lease of its
//! own before it expires anything. Freezes are looked at from a twelfth of a lease on, not from half a lease as first
//! designed: the own clock starts at the first look, so looking later would heal after one and a half leases. The confirm deletes a freeze only if unchanged since it was read; totals it installs always.

use std::collections::HashMap;
use std::time::Duration;

use domain::record::Outcome;
use domain::{Amount, FreezeState, RequestId, Shard};
use ledger::{Delete, Found, Ledger};
use quota::outcomes;
use store::Store;
use store::opened::Opened;
use store::record::OutcomeRow;
use tokio::time::Instant;
use tracing::{error, info, warn};

/// Freezes looked at in one shard and pass at most.
const PER_SHARD: usize = 1_000;

/// What this process has seen of freezes and gateways, on its own clock.
#[derive(Debug, Default)]
pub struct Sweeper {
    freezes: HashMap<RequestId, (String, Instant)>,
    gateways: HashMap<String, GatewaySeen>,
}

#[derive(Debug)]
struct GatewaySeen {
    beat: i64,
    since: Instant,
    checkpoints: HashMap<RequestId, Amount>,
}

/// What one pass did.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Swept {
    /// Freezes without a beat for a lease.
    pub found: usize,
    /// Of these, those resolved now.
    pub healed: usize,
}

impl Sweeper {
    /// One pass over every shard that holds freezes.
    ///
    /// # Errors
    /// Redis or Postgres gave no answer; what was not resolved is found again.
    pub async fn pass(&mut self, ledger: &Ledger, store: &Store, lease: Duration) -> anyhow::Result<Swept> {
        self.see_gateways(store).await?;
        let shards: Vec<Shard> = Shard::all().collect();
        let live = ledger.live(&shards).await?;
        // A little over a beat interval: the own clock must start early for a freeze to be healed within a lease and a few seconds.
        let quiet_ms = i64::try_from((lease / 12).as_millis())?;
        let mut swept = Swept::default();
        let mut seen = HashMap::new();
        for (shard, _) in shards.iter().zip(live).filter(|(_, live)| *live > 0) {
            let now_ms = ledger.now_ms().await?;
            let found = ledger.sweep(*shard, now_ms, quiet_ms, PER_SHARD).await?;
            let over: Vec<Found> = found.into_iter().filter(|found| self.is_over(found, lease, &mut seen)).collect();
            swept.found += over.len();
            if !over.is_empty() {
                swept.healed += self.resolve(ledger, store, *shard, &over).await?;
            }
        }
        self.freezes = seen;
        Ok(swept)
    }

    /// True where the gateway's row in Postgres has not been beaten for a lease since this process saw it, or is not there.
    #[must_use]
    pub fn is_silent(&self, gateway_id: &str, lease: Duration) -> bool {
        self.gateways.get(gateway_id).is_none_or(|gateway| gateway.since.elapsed() >= lease)
    }

    /// What the gateway's row last said of a request's charge; zero where it said nothing.
    #[must_use]
    pub fn checkpoint(&self, opened: &Opened) -> Amount {
        let gateway = self.gateways.get(&opened.gateway_id);
        gateway.and_then(|gateway| gateway.checkpoints.get(&opened.request_id)).copied().unwrap_or(Amount::ZERO)
    }

    async fn see_gateways(&mut self, store: &Store) -> anyhow::Result<()> {
        let mut connection = store.acquire().await?;
        let now = Instant::now();
        for row in store::beats::all(&mut connection).await? {
            let checkpoints =
                row.checkpoints.iter().map(|checkpoint| (checkpoint.request_id, checkpoint.progress)).collect();
            let since = match self.gateways.get(&row.gateway_id) {
                Some(seen) if seen.beat == row.beat => seen.since,
                _ => now,
            };
            self.gateways.insert(row.gateway_id, GatewaySeen { beat: row.beat, since, checkpoints });
        }
        Ok(())
    }

    /// True where neither Redis nor Postgres has seen a beat of it for a lease.
    fn is_over(&self, found: &Found, lease: Duration, seen: &mut HashMap<RequestId, (String, Instant)>) -> bool {
        let id = found.entry.request_id;
        let since = match self.freezes.get(&id) {
            Some((packed, since)) if *packed == found.packed => *since,
            _ => Instant::now(),
        };
        seen.insert(id, (found.packed.clone(), since));
        let kept_in_postgres = self
            .gateways
            .get(&found.entry.gateway)
            .is_some_and(|gateway| gateway.since.elapsed() < lease && gateway.checkpoints.contains_key(&id));
        since.elapsed() >= lease && !kept_in_postgres
    }

    async fn resolve(&self, ledger: &Ledger, store: &Store, shard: Shard, over: &[Found]) -> anyhow::Result<usize> {
        let mut rows = Vec::new();
        for found in over {
            match self.outcome(found) {
                Some(row) => rows.push(row),
                None => {
                    error!(request_id = %found.entry.request_id, "a freeze without key and project can't be recorded")
                }
            }
        }
        let recorded = outcomes::record(store, &rows).await?;
        let deletes: Vec<Delete> = over
            .iter()
            .map(|found| Delete {
                request_id: found.entry.request_id,
                tenant_id: found.entry.tenant_id,
                scopes: found.entry.scopes.clone(),
                expected: Some(found.packed.clone()),
            })
            .collect();
        outcomes::confirm(ledger, shard, &recorded.snapshots, &deletes).await?;
        for row in &rows {
            let new = recorded.inserted.contains(&row.request_id);
            if new {
                warn!(request_id = %row.request_id, outcome = %row.outcome, charge = %row.amount, "a phantom freeze was recorded");
            } else {
                info!(request_id = %row.request_id, "a freeze whose outcome was recorded already was removed");
            }
        }
        Ok(rows.len())
    }

    fn outcome(&self, found: &Found) -> Option<OutcomeRow> {
        let entry = &found.entry;
        let checkpoint =
            self.gateways.get(&entry.gateway).and_then(|gateway| gateway.checkpoints.get(&entry.request_id)).copied();
        let (outcome, amount) = match entry.state {
            FreezeState::Settled => (Outcome::Final, entry.amount),
            FreezeState::Active => (Outcome::Expired, entry.progress.max(checkpoint.unwrap_or(Amount::ZERO))),
        };
        outcomes::of_freeze(entry, outcome, amount)
    }
}
