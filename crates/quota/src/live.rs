//! The requests that this process was granted a freeze for and has not confirmed yet: what beats carry.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, Ordering};
use std::time::Duration;

use domain::{Amount, FreezeEntry, FreezeState, Home, RequestId, Scope, Shard, TenantId};
use parking_lot::{Mutex, RwLock};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::outage::Taken;

const ACTIVE: u8 = 0;
const SETTLED: u8 = 1;
const CONFIRMING: u8 = 2;

/// One request. What changes during its life is atomic; the rest is fixed at its admission.
#[derive(Debug)]
pub(crate) struct Live {
    pub request_id: RequestId,
    pub tenant_id: TenantId,
    pub scopes: Vec<Scope>,
    want: Amount,
    need: Amount,
    created_ms: i64,
    /// Of the tenant's account at the freeze.
    pub version: i64,
    model: String,
    amount: AtomicI64,
    progress: AtomicI64,
    /// What it really took, once it is settled.
    tokens: AtomicI64,
    state: AtomicU8,
    /// When the last beat that Redis answered was sent.
    last_beat: Mutex<Instant>,
    pub abort: CancellationToken,
    /// Redis may hold a freeze of it: one was granted there, or a beat was sent.
    in_redis: AtomicBool,
    /// It was admitted while Redis was away: Postgres holds a row of it.
    pub is_opened: bool,
    /// What it holds of the shares that are handed out while Redis is away.
    pub taken: Mutex<Taken>,
}

/// How a request was admitted without Redis.
pub(crate) struct Opened {
    pub taken: Taken,
    /// A call for it may have reached Redis before that went away.
    pub maybe_frozen: bool,
}

/// What is fixed at a request's admission.
pub(crate) struct NewLive {
    pub request_id: RequestId,
    pub tenant_id: TenantId,
    pub scopes: Vec<Scope>,
    pub want: Amount,
    pub need: Amount,
    pub amount: Amount,
    pub created_ms: i64,
    pub version: i64,
    pub model: String,
    pub sent: Instant,
    /// None: Redis granted it.
    pub opened: Option<Opened>,
}

impl Live {
    pub fn new(new: NewLive) -> Self {
        let in_redis = new.opened.as_ref().is_none_or(|opened| opened.maybe_frozen);
        Self {
            in_redis: AtomicBool::new(in_redis),
            is_opened: new.opened.is_some(),
            taken: Mutex::new(new.opened.map(|opened| opened.taken).unwrap_or_default()),
            request_id: new.request_id,
            tenant_id: new.tenant_id,
            scopes: new.scopes,
            want: new.want,
            need: new.need,
            created_ms: new.created_ms,
            version: new.version,
            model: new.model,
            amount: AtomicI64::new(new.amount.units()),
            progress: AtomicI64::new(0),
            tokens: AtomicI64::new(0),
            state: AtomicU8::new(ACTIVE),
            last_beat: Mutex::new(new.sent),
            abort: CancellationToken::new(),
        }
    }

    /// Whose keys in Redis it lives among.
    pub fn home(&self) -> Home {
        Home::of(self.tenant_id, &self.scopes)
    }

    pub fn amount(&self) -> Amount {
        load(&self.amount)
    }

    pub fn progress(&self) -> Amount {
        load(&self.progress)
    }

    /// Never lowers it.
    pub fn grow(&self, amount: Amount) {
        self.amount.fetch_max(amount.units(), Ordering::Relaxed);
    }

    /// Never lowers it.
    pub fn set_progress(&self, progress: Amount) {
        self.progress.fetch_max(progress.units(), Ordering::Relaxed);
    }

    pub fn settle(&self, actual: Amount, tokens: i64) {
        self.tokens.store(tokens, Ordering::Relaxed);
        self.amount.store(actual.units(), Ordering::Relaxed);
        self.progress.store(actual.units(), Ordering::Relaxed);
        self.state.store(SETTLED, Ordering::Release);
    }

    /// From here on no beat is sent: its outcome is committed, so losing the freeze would cost nothing.
    pub fn confirming(&self) {
        self.state.store(CONFIRMING, Ordering::Release);
    }

    pub fn beaten(&self, sent: Instant) {
        let mut last = self.last_beat.lock();
        *last = (*last).max(sent);
    }

    /// A beat of it was sent to Redis.
    pub fn sent(&self) {
        self.in_redis.store(true, Ordering::Release);
    }

    /// May Redis hold a freeze of it?
    pub fn is_in_redis(&self) -> bool {
        self.in_redis.load(Ordering::Acquire)
    }

    pub fn since_beat(&self) -> Duration {
        self.last_beat.lock().elapsed()
    }

    /// What a beat carries; None once the request is being confirmed.
    pub fn entry(&self, gateway: &str) -> Option<FreezeEntry> {
        let state = match self.state.load(Ordering::Acquire) {
            ACTIVE => FreezeState::Active,
            SETTLED => FreezeState::Settled,
            _ => return None,
        };
        let amount = self.amount();
        let progress = if state == FreezeState::Settled { amount } else { self.progress() };
        Some(FreezeEntry {
            request_id: self.request_id,
            tenant_id: self.tenant_id,
            state,
            want: self.want,
            need: self.need,
            amount,
            progress,
            tokens: self.tokens.load(Ordering::Relaxed),
            created_ms: self.created_ms,
            version: self.version,
            gateway: gateway.to_owned(),
            model: self.model.clone(),
            scopes: self.scopes.clone(),
        })
    }

    pub fn is_active(&self) -> bool {
        self.state.load(Ordering::Acquire) == ACTIVE
    }
}

fn load(cell: &AtomicI64) -> Amount {
    Amount::new(cell.load(Ordering::Relaxed)).unwrap_or(Amount::MAX)
}

/// All live requests, and a gate per shard that keeps a beat and a confirm of the same freeze from crossing.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    live: RwLock<HashMap<RequestId, Arc<Live>>>,
    gates: Mutex<HashMap<Shard, Arc<tokio::sync::Mutex<()>>>>,
}

impl Registry {
    pub fn insert(&self, live: Live) -> Arc<Live> {
        let live = Arc::new(live);
        self.live.write().insert(live.request_id, Arc::clone(&live));
        live
    }

    pub fn remove(&self, request_id: RequestId) {
        self.live.write().remove(&request_id);
    }

    pub fn len(&self) -> usize {
        self.live.read().len()
    }

    pub fn all(&self) -> Vec<Arc<Live>> {
        self.live.read().values().cloned().collect()
    }

    /// How many active requests each of the scopes has here.
    pub fn running(&self, scopes: &[Scope]) -> Vec<usize> {
        let mut running = vec![0; scopes.len()];
        for live in self.live.read().values().filter(|live| live.is_active()) {
            for (count, scope) in running.iter_mut().zip(scopes) {
                *count += usize::from(live.scopes.contains(scope));
            }
        }
        running
    }

    /// Held while a beat of the shard is under way, and for an instant before a confirm is sent.
    pub fn gate(&self, shard: Shard) -> Arc<tokio::sync::Mutex<()>> {
        Arc::clone(self.gates.lock().entry(shard).or_default())
    }
}
