//! What happens while Redis is away: a tenant's `outage` steps decide, out of what this gateway last knew.
//!
//! - `deny`: nothing is admitted.
//! - `allowance`: up to this gateway's share of one bounded part of what was left.
//! - `bypass`: without bound.
//!
//! Both admit no more at once than [`crate::Config::outage_in_flight`] of a tenant, and write a row to Postgres before the
//! provider is called. Outcomes go to Postgres as always. When Redis answers again, running requests are beaten into it and
//! the totals of what was recorded meanwhile are installed; only then does the breaker close and is anything frozen.

mod admit;
mod extend;
mod known;
mod probe;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};

use domain::{Home, LimitUse, Numbers, Scope, Snapshot};
use parking_lot::Mutex;
use tokio::time::Instant;

pub(crate) use known::Taken;
pub(crate) use probe::run;

use crate::live::Live;
use crate::recorder::Job;
use crate::{Config, Shared};
use known::{Accounts, Portion};

/// What a gateway keeps for outages.
#[derive(Debug)]
pub(crate) struct Outage {
    /// Held for reading by whoever acts on an open breaker, for writing while it is closed.
    gate: tokio::sync::RwLock<()>,
    accounts: Mutex<Accounts>,
    /// Gateways that beat in Postgres, this one included.
    gateways: AtomicU32,
    percent: u32,
    /// Totals recorded while Redis was away, the newest of each account.
    recorded: Mutex<HashMap<Scope, (Home, Snapshot)>>,
}

impl Outage {
    pub fn new(config: &Config) -> Self {
        Self {
            gate: tokio::sync::RwLock::new(()),
            accounts: Mutex::default(),
            gateways: AtomicU32::new(1),
            percent: config.allowance_percent.clamp(1, 100),
            recorded: Mutex::default(),
        }
    }

    pub fn set_gateways(&self, count: i64) {
        self.gateways.store(u32::try_from(count).unwrap_or(1).max(1), Ordering::Relaxed);
    }

    fn portion(&self) -> Portion {
        Portion { percent: self.percent, gateways: self.gateways.load(Ordering::Relaxed) }
    }

    fn note(&self, snapshots: &[(Home, Snapshot)]) {
        let mut recorded = self.recorded.lock();
        for (home, snapshot) in snapshots {
            let age = |snapshot: &Snapshot| (snapshot.incarnation, snapshot.version);
            match recorded.get(&snapshot.scope) {
                Some((_, held)) if age(held) >= age(snapshot) => {}
                _ => drop(recorded.insert(snapshot.scope.clone(), (*home, snapshot.clone()))),
            }
        }
    }
}

impl Shared {
    /// The ledger told these numbers.
    pub(crate) fn learn(&self, numbers: &[Numbers], limits: Option<&[LimitUse]>) {
        // A reply that was under way when the breaker opened would void shares that are handed out already.
        if self.ledger.away_since().is_none() {
            self.outage.accounts.lock().learn(numbers, limits, Instant::now());
        }
    }

    /// A request that took of the shares has ended with a charge of `actual`: what it took too much is given back.
    pub(crate) fn release(&self, live: &Live, actual: i64) {
        let taken = std::mem::take(&mut *live.taken.lock());
        if taken.units > 0 {
            let before = live.amount().units() - taken.units;
            let kept = (actual - before).max(0);
            self.outage.accounts.lock().release(&taken, taken.units - kept);
        }
    }

    /// Of recorded jobs those whose freezes must be deleted in Redis. While it is away, the others are done with: their totals
    /// are installed when it is back.
    pub(crate) async fn to_confirm(&self, recorded: &store::record::Recorded, jobs: Vec<Job>) -> Vec<Job> {
        let _gate = self.outage.gate.read().await;
        if self.ledger.away_since().is_none() {
            return jobs;
        }
        for home in recorded.snapshots.iter().map(|(home, _)| *home) {
            // A beat under way may bring a freeze to Redis.
            drop(self.live.gate(domain::Shard::of(home)).lock().await);
        }
        self.outage.note(&recorded.snapshots);
        let (held, free): (Vec<_>, Vec<_>) =
            jobs.into_iter().partition(|job| job.live.as_ref().is_none_or(|live| live.is_in_redis()));
        free.into_iter().for_each(|job| self.done(job));
        held
    }
}
