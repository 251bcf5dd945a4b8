//! The comparison: every account in Redis, in Postgres, and by its sums. What is found becomes alerts, what was seen is kept,
//! and what is wrong in Redis is loaded anew from Postgres, never the reverse.

mod find;

use std::time::Duration;

use domain::books::Verdict;
use domain::{ReconciliationId, Scope, Snapshot, Status, TenantId};
use ledger::Ledger;
use serde_json::json;
use store::accounts::Change;
use store::comparisons::{self, Counts};
use store::snapshots::Seen;
use store::{PgConnection, Store};

use crate::books::{self, Book, Books};
use crate::reconcile::find::Known;
use crate::{Quota, Unavailable};

/// Accounts compared in one reading.
const PAGE: i64 = 200;
/// A copy that looks wrong is read again, this often at most: what is on its way must not pass for damage.
const LOOKS: usize = 3;
const BETWEEN: Duration = Duration::from_millis(50);

/// A tenant that is being compared, page by page: so that whoever compares can do other things in between.
#[derive(Debug)]
pub struct Tenant {
    id: TenantId,
    /// The last account of the page before.
    after: Option<Scope>,
    /// What its accounts are judged by; read once.
    known: Option<Known>,
    is_dry_run: bool,
}

impl Tenant {
    /// Begins. `is_dry_run`: looks and counts, and keeps, opens, tells, halts and repairs nothing.
    #[must_use]
    pub const fn new(id: TenantId, is_dry_run: bool) -> Self {
        Self { id, after: None, known: None, is_dry_run }
    }

    /// Whose accounts.
    #[must_use]
    pub const fn id(&self) -> TenantId {
        self.id
    }

    /// Compares the next page. None: there was none left. Everything that a page finds commits together.
    ///
    /// # Errors
    /// Redis or Postgres gave no answer: compare the tenant again.
    pub async fn next(&mut self, ledger: &Ledger, store: &Store) -> Result<Option<Counts>, Unavailable> {
        let mut transaction = store.begin().await?;
        if !self.is_dry_run {
            comparisons::lock(&mut transaction, self.id).await?;
        }
        let scopes = store::scopes::page(&mut transaction, self.id, self.after.as_ref(), PAGE).await?;
        let Some(last) = scopes.last().cloned() else { return Ok(None) };
        let known = match self.known.take() {
            Some(known) => known,
            None => Known::read(&mut transaction, self.id).await?,
        };
        let page = look(ledger, &mut transaction, self.id, &scopes, &known).await?;
        let counts = match (self.is_dry_run, page) {
            (true, page) => page.counts(false),
            (false, page) => page.act(ledger, transaction, self.id).await?,
        };
        (self.after, self.known) = (Some(last), Some(known));
        Ok(Some(counts))
    }
}

/// A page as it was found.
struct Page {
    books: Books,
    found: Vec<store::alerts::Found>,
    /// Accounts that do not add up.
    wrong: Vec<(Scope, String)>,
}

async fn look(
    ledger: &Ledger,
    connection: &mut PgConnection,
    tenant: TenantId,
    scopes: &[Scope],
    known: &Known,
) -> Result<Page, Unavailable> {
    let mut books = books::read_on(ledger, connection, tenant, scopes).await?;
    for _ in 1..LOOKS {
        if !books.accounts.iter().any(|book| book.verdict.is_wrong()) {
            break;
        }
        tokio::time::sleep(BETWEEN).await;
        books = books::read_on(ledger, connection, tenant, scopes).await?;
    }
    let found = find::all(connection, &books, known).await?;
    let wrong = known.wrong.iter().filter(|(scope, _)| scopes.contains(scope)).cloned().collect();
    Ok(Page { books, found, wrong })
}

impl Page {
    fn counts(&self, is_repaired: bool) -> Counts {
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let is_spoilt =
            |book: &&Book| book.verdict.is_wrong() || self.wrong.iter().any(|(scope, _)| *scope == book.scope);
        Counts {
            accounts: count(self.books.accounts.len()),
            differences: count(self.books.accounts.iter().filter(is_spoilt).count()),
            repaired: if is_repaired { count(self.repairable().count()) } else { 0 },
            alerts: count(self.found.len()),
        }
    }

    /// Copies that loading them anew from Postgres mends. Where the sums in Postgres are wrong it is no truth to load from.
    fn repairable(&self) -> impl Iterator<Item = &Book> {
        let is_sound = self.wrong.is_empty();
        self.books.accounts.iter().filter(move |book| is_sound && book.verdict.is_repairable())
    }

    /// Halts, repairs, opens and closes alerts, tells, keeps and writes it all down.
    async fn act(self, ledger: &Ledger, mut tx: store::Transaction, tenant: TenantId) -> Result<Counts, Unavailable> {
        let halted = halt(&mut tx, &self.wrong).await?;
        let scopes: Vec<Scope> = self.books.accounts.iter().map(|book| book.scope.clone()).collect();
        let new = store::alerts::settle(&mut tx, tenant, &scopes, &self.found).await?;
        find::tell(&mut tx, tenant, &self.found, &new).await?;
        store::snapshots::keep(&mut tx, &self.seen()).await?;
        let counts = self.counts(true);
        if counts.repaired > 0 {
            // Safe to repeat, so it comes before the commit of what says that it was done. It deletes nothing.
            books::rebuild(ledger, store::pools::home(&mut tx, tenant).await?).await?;
        }
        self.write_down(&mut tx, tenant, &halted).await?;
        let home = store::pools::home(&mut tx, tenant).await?;
        tx.commit().await.map_err(store::Error::from)?;
        if !halted.is_empty() {
            ledger.install(home, &halted).await?;
        }
        Ok(counts)
    }

    fn seen(&self) -> Vec<Seen> {
        let seen = self.books.accounts.iter().map(|book| Seen {
            scope: book.scope.clone(),
            frozen: book.frozen,
            verdict: book.verdict.as_str(),
        });
        seen.collect()
    }

    /// In the log and in the audit log.
    async fn write_down(
        &self,
        tx: &mut store::Transaction,
        tenant: TenantId,
        halted: &[Snapshot],
    ) -> Result<(), Unavailable> {
        for book in self.repairable() {
            let (scope, found) = (&book.scope, book.verdict.as_str());
            tracing::warn!(%tenant, %scope, found, "a copy in Redis was wrong and is loaded anew");
            audit(tx, tenant, "ledger.repair", scope, json!({ "found": found }), json!({ "loaded": "anew" })).await?;
        }
        for snapshot in halted {
            let scope = &snapshot.scope;
            let detail = self.wrong.iter().find(|(wrong, _)| wrong == scope).map_or("", |(_, detail)| detail.as_str());
            tracing::error!(%tenant, %scope, detail, "A SUM DOES NOT ADD UP: the account is halted");
            let before = json!({ "status": Status::Active.as_str(), "found": detail });
            let after = json!({ "status": Status::Halted.as_str() });
            audit(tx, tenant, "ledger.halt", scope, before, after).await?;
        }
        for book in self.books.accounts.iter().filter(|book| book.verdict == Verdict::Ahead) {
            tracing::error!(%tenant, scope = %book.scope, "POSTGRESQL HAS LOST COMMITS: Redis knows a later version");
        }
        Ok(())
    }
}

/// An account whose sums do not add up admits nothing until somebody has looked; one that admits nothing stays as it is.
async fn halt(tx: &mut store::Transaction, wrong: &[(Scope, String)]) -> Result<Vec<Snapshot>, Unavailable> {
    let scopes: Vec<Scope> = wrong.iter().map(|(scope, _)| scope.clone()).collect();
    let mut halted = Vec::new();
    for snapshot in store::accounts::lock(tx, &scopes).await? {
        if snapshot.status == Status::Active {
            let change = Change { status: Some(Status::Halted), ..Change::default() };
            halted.push(store::accounts::change(tx, &snapshot.scope, &change).await?);
        }
    }
    Ok(halted)
}

async fn audit(
    tx: &mut store::Transaction,
    tenant: TenantId,
    action: &str,
    scope: &Scope,
    before: serde_json::Value,
    after: serde_json::Value,
) -> Result<(), Unavailable> {
    let target = scope.to_string();
    let entry = store::audit::Entry {
        actor: "reconciler",
        action,
        target: &target,
        tenant_id: Some(tenant),
        before: Some(before),
        after: Some(after),
        address: None,
        request_id: None,
    };
    Ok(store::audit::append(tx, &entry).await?)
}

impl Quota {
    /// Compares these tenants and notes under `id` how it ended, whoever waits for it. A tenant that can't be compared is
    /// left out and the whole noted as failed; where Redis or Postgres is away it ends there.
    pub async fn compare(&self, id: ReconciliationId, tenants: Vec<TenantId>, is_dry_run: bool) {
        let (ledger, store) = (&self.shared.ledger, &self.shared.store);
        let (mut counts, mut is_whole) = (Counts::default(), true);
        'tenants: for tenant in tenants {
            let mut tenant = Tenant::new(tenant, is_dry_run);
            loop {
                match tenant.next(ledger, store).await {
                    Ok(Some(of)) => counts += of,
                    Ok(None) => break,
                    Err(error) => {
                        is_whole = false;
                        tracing::warn!(tenant = %tenant.id(), %error, "a tenant could not be compared");
                        if is_away(&error) {
                            break 'tenants;
                        }
                        break;
                    }
                }
            }
        }
        let noted = async { comparisons::end(&mut *store.acquire().await?, id, counts, is_whole).await };
        if let Err(error) = noted.await {
            tracing::warn!(%error, "how a comparison ended is not noted");
        }
    }

    /// A comparison as it stands.
    ///
    /// # Errors
    /// Postgres gave no answer.
    pub async fn comparison(&self, id: ReconciliationId) -> Result<comparisons::Reconciliation, Unavailable> {
        Ok(comparisons::get(&mut *self.shared.store.acquire().await?, id).await?)
    }
}

/// True where the next tenant will fare no better.
#[must_use]
pub fn is_away(error: &Unavailable) -> bool {
    match error {
        Unavailable::Ledger(error) => error.is_transient(),
        Unavailable::Store(error) => error.is_transient(),
        Unavailable::Away(_) | Unavailable::Busy(_) => true,
        Unavailable::Moved => false,
    }
}
