//! Requests that were admitted while Redis was away and whose gateway is gone: their rows in Postgres are the only trace.
//!
//! One whose gateway has not beaten its row for a lease, by this process' own clock, is recorded with its last checkpoint and
//! outcome `expired`, with an audit entry. A freeze that Redis knows meanwhile is left to the sweep, which knows more of it.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use domain::record::Outcome;
use domain::{Amount, FreezeEntry, FreezeState, Home, RequestId};
use ledger::Ledger;
use quota::outcomes;
use serde_json::json;
use store::opened::Opened;
use store::record::OutcomeRow;
use store::{Store, audit};
use tokio::time::Instant;
use tracing::{error, warn};

use crate::sweep::Sweeper;

/// Requests looked at in one pass at most.
const LIMIT: i64 = 1_000;

/// What this process has seen of such requests, on its own clock.
#[derive(Debug, Default)]
pub struct Traces {
    seen: HashMap<RequestId, Instant>,
}

impl Traces {
    /// One pass, after one of the sweep, which has seen the gateways. Returns how many requests were recorded.
    ///
    /// # Errors
    /// Postgres gave no answer; what was not resolved is found again. Redis may be away.
    pub async fn pass(
        &mut self,
        ledger: &Ledger,
        store: &Store,
        sweeper: &Sweeper,
        lease: Duration,
    ) -> anyhow::Result<usize> {
        let all = {
            let mut connection = store.acquire().await?;
            let all = store::opened::all(&mut connection, LIMIT).await?;
            if all.is_empty() {
                self.seen.clear();
                return Ok(0);
            }
            store::opened::forget_recorded(&mut connection).await?;
            all
        };
        let mut seen = HashMap::new();
        let mut gone: BTreeMap<Home, Vec<Opened>> = BTreeMap::new();
        for opened in all {
            let since = self.seen.get(&opened.request_id).copied().unwrap_or_else(Instant::now);
            seen.insert(opened.request_id, since);
            if since.elapsed() >= lease && sweeper.is_silent(&opened.gateway_id, lease) {
                gone.entry(Home::of(opened.tenant_id, &opened.scopes)).or_default().push(opened);
            }
        }
        self.seen = seen;
        let mut recorded = 0;
        for (home, opened) in gone {
            let held: Vec<RequestId> = match ledger.freezes(home).await {
                Ok(freezes) => freezes.into_iter().map(|found| found.entry.request_id).collect(),
                Err(_) => Vec::new(),
            };
            for opened in opened.into_iter().filter(|opened| !held.contains(&opened.request_id)) {
                recorded += usize::from(expire(store, &opened, sweeper.checkpoint(&opened)).await?);
            }
        }
        Ok(recorded)
    }
}

/// Records it in one transaction with its audit entry. False where its outcome stood already.
async fn expire(store: &Store, opened: &Opened, progress: Amount) -> anyhow::Result<bool> {
    let Some(row) = outcome(opened, progress) else {
        error!(request_id = %opened.request_id, "an opened request without key and project can't be recorded");
        return Ok(false);
    };
    let mut transaction = store.begin().await?;
    let recorded = store::record::record(&mut transaction, std::slice::from_ref(&row)).await?;
    store::opened::close(&mut transaction, &[opened.request_id]).await?;
    let is_new = recorded.inserted.contains(&opened.request_id);
    if is_new {
        let target = opened.request_id.to_string();
        let entry = audit::Entry {
            actor: "reconciler",
            action: "request.expire",
            target: &target,
            tenant_id: Some(opened.tenant_id),
            before: Some(json!({"gateway": opened.gateway_id, "frozen": opened.amount.to_string()})),
            after: Some(json!({"outcome": Outcome::Expired.as_str(), "charge": progress.to_string()})),
            address: None,
            request_id: Some(&target),
        };
        audit::append(&mut transaction, &entry).await?;
    }
    transaction.commit().await.map_err(store::Error::from)?;
    if is_new {
        warn!(request_id = %opened.request_id, gateway = opened.gateway_id, charge = %progress, "a request admitted while Redis was away was recorded: its gateway is gone");
    }
    Ok(is_new)
}

fn outcome(opened: &Opened, progress: Amount) -> Option<OutcomeRow> {
    let entry = FreezeEntry {
        request_id: opened.request_id,
        tenant_id: opened.tenant_id,
        state: FreezeState::Active,
        want: opened.amount,
        need: opened.amount,
        amount: opened.amount,
        progress,
        tokens: 0,
        created_ms: 0,
        version: opened.version,
        gateway: opened.gateway_id.clone(),
        model: opened.model.clone(),
        scopes: opened.scopes.clone(),
    };
    outcomes::of_freeze(&entry, Outcome::Expired, progress)
}
