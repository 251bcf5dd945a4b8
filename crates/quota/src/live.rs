//! The requests that this process was granted a freeze for and has not confirmed yet: what beats carry.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU8, Ordering};
use std::time::Duration;

use domain::{Amount, FreezeEntry, FreezeState, RequestId, Scope, Shard, TenantId};
use parking_lot::{Mutex, RwLock};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

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
    state: AtomicU8,
    /// When the last beat that Redis answered was sent.
    last_beat: Mutex<Instant>,
    pub abort: CancellationToken,
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
}

impl Live {
    pub fn new(new: NewLive) -> Self {
        Self {
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
            state: AtomicU8::new(ACTIVE),
            last_beat: Mutex::new(new.sent),
            abort: CancellationToken::new(),
        }
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

    pub fn settle(&self, actual: Amount) {
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

    /// Held while a beat of the shard is under way, and for an instant before a confirm is sent.
    pub fn gate(&self, shard: Shard) -> Arc<tokio::sync::Mutex<()>> {
        Arc::clone(self.gates.lock().entry(shard).or_default())
    }
}
