//! Record and confirm, for gateways and the reconciler alike.

use std::collections::BTreeSet;

use domain::record::{Outcome, UsageRecord};
use domain::usage::Usage;
use domain::{Amount, FreezeEntry, Home, KeyId, ProjectId, RequestId, Scope, Shard, Snapshot, TenantId};
use ledger::{Delete, Ledger, LedgerError};
use store::Store;
use store::record::{OutcomeRow, Recorded};
use tracing::debug;

/// Deletes in one confirm at most, so that no script runs long.
const BATCH: usize = 100;

/// Shrinks (or grows) the freezes to their actual charge. One attempt: what is lost here, beats carry.
pub async fn settle(ledger: &Ledger, entries: &[FreezeEntry]) {
    let shards: BTreeSet<Shard> = entries.iter().map(|entry| Shard::of(entry.home())).collect();
    for shard in shards {
        let of_shard: Vec<FreezeEntry> = entries
            .iter()
            .filter(|entry| Shard::of(entry.home()) == shard && entry.state == domain::FreezeState::Settled)
            .cloned()
            .collect();
        if let Err(error) = ledger.settle(shard, &of_shard).await {
            debug!(%error, "a settle was not answered");
        }
    }
}

/// Records outcomes in one transaction.
///
/// # Errors
/// Transient: nothing is known to be committed, and recording the same rows again is right.
pub async fn record(store: &Store, rows: &[OutcomeRow]) -> Result<Recorded, store::Error> {
    record_opened(store, rows, &[]).await
}

/// The same, and deletes the rows of those among them that were `opened` while Redis was away.
///
/// # Errors
/// As [`record`].
pub async fn record_opened(store: &Store, rows: &[OutcomeRow], opened: &[RequestId]) -> Result<Recorded, store::Error> {
    let mut connection = store.acquire().await?;
    let mut transaction = store::begin(&mut connection).await?;
    let recorded = store::record::record(&mut transaction, rows).await?;
    store::opened::close(&mut transaction, opened).await?;
    transaction.commit().await.map_err(store::Error::from)?;
    Ok(recorded)
}

/// The record of a request of which only who asked for which model, and the estimate, are known.
pub(crate) fn bare(
    request_id: RequestId,
    tenant_id: TenantId,
    project_id: ProjectId,
    key_id: KeyId,
    model: &str,
    estimate: Amount,
) -> UsageRecord {
    UsageRecord {
        request_id,
        client_request_id: None,
        tenant_id,
        project_id,
        key_id,
        model: model.to_owned(),
        served_model: None,
        estimate,
        frozen: Amount::ZERO,
        extensions: 0,
        usage: Usage::default(),
        attempts: Vec::new(),
        upstream_status: None,
        estimated: true,
        overrun: false,
        started_at: None,
        frozen_at: None,
        first_byte_at: None,
        ended_at: None,
    }
}

/// The outcome of a freeze of which only Redis' entry is known. `None` where the entry names no key or no project.
#[must_use]
pub fn of_freeze(entry: &FreezeEntry, outcome: Outcome, amount: Amount) -> Option<OutcomeRow> {
    let (mut key_id, mut project_id) = (None, None);
    for scope in &entry.scopes {
        match scope {
            Scope::Key(id, _) => key_id = Some(*id),
            Scope::Project(id, _) => project_id = Some(*id),
            Scope::Tenant(_) | Scope::Member(..) | Scope::Pool(..) => {}
        }
    }
    let record = UsageRecord {
        frozen: entry.amount,
        ..bare(entry.request_id, entry.tenant_id, project_id?, key_id?, &entry.model, entry.want)
    };
    Some(OutcomeRow {
        request_id: entry.request_id,
        tenant_id: entry.tenant_id,
        scopes: entry.scopes.clone(),
        outcome,
        amount,
        frozen: entry.amount,
        version: entry.version,
        record,
    })
}

/// The freezes of the rows, to be deleted as they are.
pub fn deletes<'a>(rows: impl Iterator<Item = &'a OutcomeRow>) -> Vec<Delete> {
    rows.map(|row| Delete {
        request_id: row.request_id,
        tenant_id: row.tenant_id,
        scopes: row.scopes.clone(),
        expected: None,
    })
    .collect()
}

/// The shards that a confirm has to visit.
#[must_use]
pub fn shards(snapshots: &[(Home, Snapshot)], deletes: &[Delete]) -> BTreeSet<Shard> {
    let of_snapshots = snapshots.iter().map(|(home, _)| Shard::of(*home));
    of_snapshots.chain(deletes.iter().map(|delete| Shard::of(delete.home()))).collect()
}

/// Installs the totals and deletes the freezes of one shard: totals first, in the same script.
///
/// # Errors
/// Why Redis did not answer: confirm again.
pub async fn confirm(
    ledger: &Ledger,
    shard: Shard,
    snapshots: &[(Home, Snapshot)],
    deletes: &[Delete],
) -> Result<(), LedgerError> {
    let snapshots: Vec<(Home, Snapshot)> =
        snapshots.iter().filter(|(home, _)| Shard::of(*home) == shard).cloned().collect();
    let deletes: Vec<Delete> = deletes.iter().filter(|delete| Shard::of(delete.home()) == shard).cloned().collect();
    if deletes.is_empty() {
        ledger.confirm(shard, &snapshots, &[]).await?;
        return Ok(());
    }
    for chunk in deletes.chunks(BATCH) {
        // Every call carries the totals of what it deletes: a freeze never goes before they are there.
        let touched: BTreeSet<String> =
            chunk.iter().flat_map(|delete| delete.scopes.iter().map(ToString::to_string)).collect();
        let totals: Vec<(Home, Snapshot)> =
            snapshots.iter().filter(|(_, snapshot)| touched.contains(&snapshot.scope.to_string())).cloned().collect();
        ledger.confirm(shard, &totals, chunk).await?;
    }
    Ok(())
}
