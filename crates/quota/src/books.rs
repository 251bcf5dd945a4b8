//! A tenant's books for people: both copies of every account side by side, its running freezes, and what an operator may
//! do about them. Part of no decision.

use std::time::Duration;

use domain::books::{Verdict, compare};
use domain::record::Outcome;
use domain::{Amount, Home, Numbers, RequestId, Scope, Shard, Snapshot, TenantId};
use ledger::{AccountState, Delete, Found, Ledger};
use store::{PgConnection, Store};

use crate::{Quota, Unavailable, outcomes};

/// Freezes and accounts are two readings: they are read again until no freeze came or went between them, this often at most.
const TRIES: usize = 5;
const BETWEEN: Duration = Duration::from_millis(50);

/// One account.
#[derive(Debug, Clone)]
pub struct Book {
    /// Whose.
    pub scope: Scope,
    /// Postgres' totals.
    pub truth: Snapshot,
    /// Redis' numbers; None where it holds none.
    pub copy: Option<Numbers>,
    /// How far Redis' copy is believed.
    pub state: AccountState,
    /// Sum of the live freezes that name it.
    pub frozen: Amount,
    /// How the two compare.
    pub verdict: Verdict,
}

/// All of a tenant.
#[derive(Debug, Clone)]
pub struct Books {
    /// The accounts asked for that Postgres has, in scope order.
    pub accounts: Vec<Book>,
    /// Every live freeze of the tenant, the oldest first.
    pub freezes: Vec<Found>,
    /// False where freezes came and went during every reading, so that `FrozenDiffers` says nothing.
    pub settled: bool,
}

/// What Redis holds, before Postgres is asked.
struct Copies {
    held: Vec<ledger::Held>,
    freezes: Vec<Found>,
    settled: bool,
}

/// Reads Redis before Postgres, so that a copy that is newer than what Postgres answers means lost commits.
///
/// # Errors
/// Redis or Postgres gave no answer.
pub async fn read(ledger: &Ledger, store: &Store, tenant: TenantId, scopes: &[Scope]) -> Result<Books, Unavailable> {
    let home = store::pools::home(&mut *store.acquire().await?, tenant).await?;
    let copies = copies(ledger, home, tenant, scopes).await?;
    beside(&mut *store.acquire().await?, scopes, copies).await
}

/// The same on a connection that the caller holds already.
///
/// # Errors
/// Redis or Postgres gave no answer.
pub(crate) async fn read_on(
    ledger: &Ledger,
    connection: &mut PgConnection,
    tenant: TenantId,
    scopes: &[Scope],
) -> Result<Books, Unavailable> {
    let home = store::pools::home(connection, tenant).await?;
    let copies = copies(ledger, home, tenant, scopes).await?;
    beside(connection, scopes, copies).await
}

async fn copies(ledger: &Ledger, home: Home, tenant: TenantId, scopes: &[Scope]) -> Result<Copies, Unavailable> {
    let mut attempt = 1;
    loop {
        let before = of_tenant(ledger, home, tenant).await?;
        let held = ledger.read(home, scopes).await?;
        let mut freezes = of_tenant(ledger, home, tenant).await?;
        let settled = amounts(&before) == amounts(&freezes);
        if settled || attempt == TRIES {
            freezes.sort_by_key(|found| (found.entry.created_ms, found.entry.request_id));
            return Ok(Copies { held, freezes, settled });
        }
        attempt += 1;
        tokio::time::sleep(BETWEEN).await;
    }
}

/// The tenant's freezes; those of a pool's other members live beside them.
async fn of_tenant(ledger: &Ledger, home: Home, tenant: TenantId) -> Result<Vec<Found>, Unavailable> {
    let all = ledger.freezes(home).await?;
    Ok(all.into_iter().filter(|found| found.entry.tenant_id == tenant).collect())
}

async fn beside(connection: &mut PgConnection, scopes: &[Scope], copies: Copies) -> Result<Books, Unavailable> {
    let Copies { held, freezes, settled } = copies;
    let truths = store::accounts::snapshots(connection, scopes).await?;
    let accounts = truths.into_iter().map(|truth| book(truth, scopes, &held, &freezes, settled)).collect();
    Ok(Books { accounts, freezes, settled })
}

fn book(truth: Snapshot, scopes: &[Scope], held: &[ledger::Held], freezes: &[Found], settled: bool) -> Book {
    let found = scopes.iter().zip(held).find(|(scope, _)| **scope == truth.scope).map(|(_, held)| held.clone());
    let (copy, state) = found.map_or((None, AccountState::Absent), |held| (held.numbers, held.state));
    let naming = freezes.iter().filter(|found| found.entry.scopes.contains(&truth.scope));
    let sum = naming.fold(Amount::ZERO, |sum, found| sum.saturating_add(found.entry.amount));
    // Where the readings never met, the copy's own figure is taken for the sum: it can't be judged.
    let frozen = if settled { sum } else { copy.as_ref().map_or(sum, |copy| copy.frozen) };
    let verdict = compare(&truth, copy.as_ref(), frozen);
    Book { scope: truth.scope.clone(), truth, copy, state, frozen: sum, verdict }
}

fn amounts(freezes: &[Found]) -> Vec<(RequestId, Amount)> {
    let mut amounts: Vec<_> = freezes.iter().map(|found| (found.entry.request_id, found.entry.amount)).collect();
    amounts.sort();
    amounts
}

/// Makes Redis' copy of a tenant, or of a pool with its members, anew: starts a new recovery window of its shard and deletes nothing. Live freezes stay or are
/// beaten back; each account is loaded from Postgres by the next request, which waits for the window (3 s at most).
///
/// # Errors
/// Redis gave no answer.
pub async fn rebuild(ledger: &Ledger, home: Home) -> Result<(), Unavailable> {
    Ok(ledger.renew_window(Shard::of(home)).await?)
}

/// What became of a roll back by hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RolledBack {
    /// Nothing is charged, unless the call's gateway still settles it: that writes one late row with the charge.
    Done {
        /// What was given back.
        amount: Amount,
    },
    /// The request had its outcome already; its freeze is gone now.
    AlreadyRecorded,
    /// No freeze of this request.
    NotFound,
}

/// Ends a live freeze without a charge: an outcome row `rolled_back`, then the freeze goes.
///
/// # Errors
/// Redis or Postgres gave no answer: call again.
pub async fn roll_back(
    ledger: &Ledger,
    store: &Store,
    tenant: TenantId,
    request: RequestId,
) -> Result<RolledBack, Unavailable> {
    let home = store::pools::home(&mut *store.acquire().await?, tenant).await?;
    let freezes = of_tenant(ledger, home, tenant).await?;
    let Some(found) = freezes.into_iter().find(|found| found.entry.request_id == request) else {
        return Ok(RolledBack::NotFound);
    };
    let entry = &found.entry;
    let row = outcomes::of_freeze(entry, Outcome::RolledBack, Amount::ZERO)
        .ok_or(Unavailable::Busy("the freeze names no key or project"))?;
    let recorded = outcomes::record(store, std::slice::from_ref(&row)).await?;
    let delete = Delete { request_id: request, tenant_id: tenant, scopes: entry.scopes.clone(), expected: None };
    outcomes::confirm(ledger, Shard::of(home), &recorded.snapshots, &[delete]).await?;
    if recorded.inserted.contains(&request) {
        return Ok(RolledBack::Done { amount: entry.amount });
    }
    Ok(RolledBack::AlreadyRecorded)
}

impl Quota {
    /// See [`read`].
    ///
    /// # Errors
    /// Redis or Postgres gave no answer.
    pub async fn books(&self, tenant: TenantId, scopes: &[Scope]) -> Result<Books, Unavailable> {
        read(&self.shared.ledger, &self.shared.store, tenant, scopes).await
    }

    /// See [`rebuild`].
    ///
    /// # Errors
    /// Redis or Postgres gave no answer.
    pub async fn rebuild(&self, tenant: TenantId) -> Result<(), Unavailable> {
        rebuild(&self.shared.ledger, self.shared.home(tenant).await?).await
    }

    /// See [`roll_back`].
    ///
    /// # Errors
    /// Redis or Postgres gave no answer: call again.
    pub async fn roll_back(&self, tenant: TenantId, request: RequestId) -> Result<RolledBack, Unavailable> {
        roll_back(&self.shared.ledger, &self.shared.store, tenant, request).await
    }

    /// Redis' clock, ms since 1970.
    ///
    /// # Errors
    /// Redis gave no answer.
    pub async fn now_ms(&self) -> Result<i64, Unavailable> {
        Ok(self.shared.ledger.now_ms().await?)
    }
}
