//! Keys in memory: loaded on demand, dropped when Postgres says that they changed, looked at again every few seconds
//! should that notification be lost.

use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::address::Ranges;
use domain::period::{Cycle, PeriodKind, Zone};
use domain::price::Multiplier;
use domain::settings::OutageStep;
use domain::{Level, PeriodLabel, PoolId, Scope};
use jiff::Timestamp;
use moka::future::Cache;
use parking_lot::Mutex;
use store::Store;
use store::changes::Change;
use store::key_context::{self, KeyContext};

/// Keys remembered.
const KEYS_MAX: u64 = 200_000;
/// Unknown keys remembered, and for how long.
const UNKNOWN_MAX: u64 = 20_000;
const UNKNOWN_FOR: Duration = Duration::from_secs(2);
/// A look at a key that is not known is given up after this.
const LOAD_WITHIN: Duration = Duration::from_secs(5);
/// A look at a known key that takes longer is given up: what is in memory is served on.
const LOOK_AGAIN_WITHIN: Duration = Duration::from_secs(1);
/// Loads of one key that changes meanwhile.
const LOADS_MAX: usize = 3;

/// A key with everything that was worked out of it.
#[derive(Debug)]
pub struct Caller {
    /// As it stands in Postgres.
    pub context: KeyContext,
    /// Of the secret that it was found by.
    pub hash: [u8; 32],
    /// The tenant's factor on prices.
    pub multiplier: Multiplier,
    /// The key's own factor on estimates.
    pub safety_factor: Option<Multiplier>,
    /// What the tenant wants while Redis is away.
    pub outage: Arc<[OutageStep]>,
    models: Option<HashSet<String>>,
    addresses: Option<Ranges>,
    zone: Zone,
    key_cycle: Option<Cycle>,
    project_cycle: Option<Cycle>,
    pool: Option<Pool>,
}

/// A pool and its periods.
#[derive(Debug)]
struct Pool {
    id: PoolId,
    cycle: Option<Cycle>,
    zone: Zone,
}

impl Caller {
    fn new(context: KeyContext, hash: [u8; 32]) -> Result<Self, store::Error> {
        let decimal = |what, text: &str| Multiplier::parse(text).map_err(|why| store::Error::corrupt(what, why));
        let cycle = |what, period: &Option<String>| {
            let Some(text) = period else { return Ok(None) };
            let kind = PeriodKind::parse(text).ok_or_else(|| store::Error::corrupt(what, text))?;
            Cycle::new(kind, None).map(Some).map_err(|why| store::Error::corrupt(what, why))
        };
        Ok(Self {
            multiplier: decimal("tenants.multiplier", &context.multiplier)?,
            safety_factor: context
                .safety_factor
                .as_deref()
                .map(|text| decimal("api_keys.safety_factor", text))
                .transpose()?,
            outage: context.outage.as_slice().into(),
            addresses: context.ip_ranges.as_deref().map(ranges).transpose()?,
            models: context.models.as_ref().map(|models| models.iter().cloned().collect()),
            zone: Zone::parse(&context.time_zone).map_err(|why| store::Error::corrupt("tenants.time_zone", why))?,
            key_cycle: cycle("api_keys.budget_period", &context.key_budget_period)?,
            project_cycle: cycle("projects.budget_period", &context.project_budget_period)?,
            pool: match &context.pool {
                Some(of) => Some(Pool {
                    id: of.id,
                    cycle: cycle("pools.budget_period", &of.period)?,
                    zone: Zone::parse(&of.time_zone).map_err(|why| store::Error::corrupt("pools.time_zone", why))?,
                }),
                None => None,
            },
            context,
            hash,
        })
    }

    /// May this key use the model?
    #[must_use]
    pub fn may_use(&self, model: &str) -> bool {
        self.models.as_ref().is_none_or(|models| models.contains(model))
    }

    /// May this key be used from the address?
    #[must_use]
    pub fn may_call_from(&self, address: IpAddr) -> bool {
        self.addresses.as_ref().is_none_or(|addresses| addresses.contains(address))
    }

    /// Has the key's last instant passed?
    #[must_use]
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.context.expires_at.is_some_and(|end| {
            i128::from(end.unix_timestamp()) * 1_000_000_000 + i128::from(end.nanosecond()) <= now.as_nanosecond()
        })
    }

    /// The key's, the project's and the tenant's scope, budgets in the period that `now` lies in; then those of the pool that the
    /// tenant is a member of.
    #[must_use]
    pub fn scopes(&self, now: Timestamp) -> Vec<Scope> {
        let label =
            |cycle: Option<Cycle>| cycle.map_or_else(PeriodLabel::none, |cycle| cycle.current(&self.zone, now).label);
        let mut scopes = vec![
            Scope::Key(self.context.key_id, label(self.key_cycle)),
            Scope::Project(self.context.project_id, label(self.project_cycle)),
            Scope::Tenant(self.context.tenant_id),
        ];
        if let Some(pool) = &self.pool {
            let label = pool.cycle.map_or_else(PeriodLabel::none, |cycle| cycle.current(&pool.zone, now).label);
            scopes.push(Scope::Member(pool.id, self.context.tenant_id, label.clone()));
            scopes.push(Scope::Pool(pool.id, label));
        }
        scopes
    }

    /// When the level's numbers next change by themselves, where its budget has periods; the tenant's grants carry their own ends.
    #[must_use]
    pub fn resets_at(&self, level: Level, now: Timestamp) -> Option<Timestamp> {
        let (cycle, zone) = match (level, &self.pool) {
            (Level::Tenant, _) | (Level::Pool | Level::Member, None) => (None, &self.zone),
            (Level::Project, _) => (self.project_cycle, &self.zone),
            (Level::Key, _) => (self.key_cycle, &self.zone),
            (Level::Pool | Level::Member, Some(pool)) => (pool.cycle, &pool.zone),
        };
        cycle.map(|cycle| cycle.current(zone, now).end)
    }
}

/// A range that can't be read must not open the key to everybody.
fn ranges(texts: &[String]) -> Result<Ranges, store::Error> {
    Ranges::parse(texts.iter().map(String::as_str)).map_err(|why| store::Error::corrupt("api_keys.ip_ranges", why))
}

struct Entry {
    caller: Arc<Caller>,
    loaded: Instant,
    /// One request looks again; the others go on with what is there.
    being_looked_at: AtomicBool,
}

/// The keys in memory.
pub struct KeyCache {
    store: Store,
    known: Cache<[u8; 32], Arc<Entry>>,
    unknown: Cache<[u8; 32], ()>,
    fresh_for: Duration,
    /// What was loaded before may have changed since: notifications were lost for a while.
    doubted: Mutex<Option<Instant>>,
    /// Grows with every change told by Postgres, so that a load under way knows that it may have read too early.
    changes: AtomicU64,
}

impl KeyCache {
    /// Nothing in memory yet.
    #[must_use]
    pub fn new(store: Store, fresh_for: Duration) -> Self {
        Self {
            store,
            known: Cache::builder()
                .max_capacity(KEYS_MAX)
                .time_to_idle(Duration::from_secs(3600))
                .support_invalidation_closures()
                .build(),
            unknown: Cache::builder().max_capacity(UNKNOWN_MAX).time_to_live(UNKNOWN_FOR).build(),
            fresh_for,
            doubted: Mutex::default(),
            changes: AtomicU64::new(0),
        }
    }

    /// The caller of a key, by the HMAC of its secret; `None` where nobody has it.
    ///
    /// # Errors
    /// The store's, where the key is not in memory and Postgres can't be asked.
    pub async fn find(&self, hash: &[u8; 32]) -> Result<Option<Arc<Caller>>, store::Error> {
        let Some(entry) = self.known.get(hash).await else {
            if self.unknown.contains_key(hash) {
                return Ok(None);
            }
            let silent = Err(store::Error::Silent);
            return tokio::time::timeout(LOAD_WITHIN, self.load(hash)).await.unwrap_or(silent);
        };
        let age = entry.loaded.elapsed();
        let is_doubtful = self.doubted.lock().is_some_and(|since| entry.loaded <= since);
        if age <= self.fresh_for && !is_doubtful {
            return Ok(Some(Arc::clone(&entry.caller)));
        }
        let someone_looks = entry.being_looked_at.swap(true, Ordering::AcqRel);
        if someone_looks && age <= self.fresh_for * 2 {
            return Ok(Some(Arc::clone(&entry.caller)));
        }
        self.look_again(hash, &entry).await
    }

    /// Postgres unreachable is no reason to refuse a key that is known: then nobody can have changed it either.
    async fn look_again(&self, hash: &[u8; 32], entry: &Arc<Entry>) -> Result<Option<Arc<Caller>>, store::Error> {
        match tokio::time::timeout(LOOK_AGAIN_WITHIN, self.load(hash)).await {
            Ok(Ok(found)) => {
                if found.is_none() {
                    self.known.invalidate(hash).await;
                }
                Ok(found)
            }
            failed => {
                tracing::warn!(key = %entry.caller.context.key_id, error = ?failed.ok().and_then(Result::err), "a key could not be looked at again");
                self.keep(*hash, Arc::clone(&entry.caller)).await;
                Ok(Some(Arc::clone(&entry.caller)))
            }
        }
    }

    /// The caller as Postgres knows it now.
    ///
    /// # Errors
    /// The store's.
    pub async fn again(&self, caller: &Caller) -> Result<Option<Arc<Caller>>, store::Error> {
        tokio::time::timeout(LOAD_WITHIN, self.load(&caller.hash)).await.unwrap_or(Err(store::Error::Silent))
    }

    async fn load(&self, hash: &[u8; 32]) -> Result<Option<Arc<Caller>>, store::Error> {
        let mut found = None;
        for _ in 0..LOADS_MAX {
            let before = self.changes.load(Ordering::Acquire);
            let context = {
                let mut conn = self.store.acquire().await?;
                key_context::find(&mut conn, hash).await?
            };
            found = context.map(|context| Caller::new(context, *hash)).transpose()?.map(Arc::new);
            match &found {
                Some(caller) => self.keep(*hash, Arc::clone(caller)).await,
                None => self.unknown.insert(*hash, ()).await,
            }
            if self.changes.load(Ordering::Acquire) == before {
                return Ok(found);
            }
        }
        self.known.invalidate(hash).await;
        self.unknown.invalidate(hash).await;
        Ok(found)
    }

    async fn keep(&self, hash: [u8; 32], caller: Arc<Caller>) {
        let entry = Entry { caller, loaded: Instant::now(), being_looked_at: AtomicBool::new(false) };
        self.known.insert(hash, Arc::new(entry)).await;
    }

    /// Drops what a change makes untrue.
    pub fn changed(&self, change: Change) {
        self.changes.fetch_add(1, Ordering::AcqRel);
        let applied = match change {
            Change::Catalog => return,
            Change::Anything => {
                // Not dropped: with Postgres away they could not be loaded again.
                *self.doubted.lock() = Some(Instant::now());
                self.unknown.invalidate_all();
                return;
            }
            Change::Key(id) => {
                self.unknown.invalidate_all();
                self.known.invalidate_entries_if(move |_, entry| entry.caller.context.key_id.uuid() == id)
            }
            Change::Project(id) => {
                self.known.invalidate_entries_if(move |_, entry| entry.caller.context.project_id.uuid() == id)
            }
            Change::Tenant(id) => {
                self.known.invalidate_entries_if(move |_, entry| entry.caller.context.tenant_id.uuid() == id)
            }
        };
        if applied.is_err() {
            self.known.invalidate_all();
        }
    }
}
