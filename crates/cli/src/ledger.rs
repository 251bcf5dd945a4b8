//! The commands that look at, compare and repair a tenant's copy of the books in Redis.

use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use domain::amount_text::AmountText;
use domain::books::Verdict;
use domain::{Amount, RequestId, TenantId, Unit};
use ledger::Ledger;
use quota::books::{self, Book, Books, RolledBack};
use serde_json::json;
use store::audit::{self, Entry};
use store::{Reach, Store};

use crate::{Database, say};

/// Accounts looked at per tenant.
const SCOPES: i64 = 10_000;

/// Where both copies are.
#[derive(Debug, Args)]
pub struct Servers {
    #[command(flatten)]
    database: Database,
    /// Redis, `redis://[user:password@]host:port[/db]`.
    #[arg(long, env = "REDIS_URL", hide_env_values = true)]
    redis_url: String,
}

impl Servers {
    async fn connect(&self) -> anyhow::Result<(Store, Ledger)> {
        let mut config = ledger::Config::new(self.redis_url.clone());
        config.command_timeout = Duration::from_secs(5);
        let ledger = Ledger::connect(&config).await.context("can't use Redis: check --redis-url (REDIS_URL)")?;
        Ok((self.database.connect().await?, ledger))
    }
}

/// Flags of `tollgate load-scripts`.
#[derive(Debug, Args)]
pub struct LoadScripts {
    /// Redis, `redis://[user:password@]host:port[/db]`.
    #[arg(long, env = "REDIS_URL", hide_env_values = true)]
    redis_url: String,
}

impl LoadScripts {
    /// Loads every script, as each service does at its start.
    pub async fn run(self) -> anyhow::Result<()> {
        let config = ledger::Config::new(self.redis_url);
        // Connecting checks the server's version and eviction policy, and loads them.
        Ledger::connect(&config).await.context("can't use Redis: check --redis-url (REDIS_URL)")?;
        say("the scripts are loaded; version and maxmemory-policy are as they must be")
    }
}

/// Flags of `tollgate show`.
#[derive(Debug, Args)]
pub struct Show {
    /// The tenant (t_...).
    tenant: TenantId,
    #[command(flatten)]
    servers: Servers,
}

impl Show {
    /// Prints the four numbers of every account in both copies, and the running freezes.
    pub async fn run(self) -> anyhow::Result<()> {
        let (store, ledger) = self.servers.connect().await?;
        let (books, unit) = read(&store, &ledger, self.tenant).await?;
        for book in &books.accounts {
            print(book, unit)?;
        }
        say(&format!("{} freezes", books.freezes.len()))?;
        for found in &books.freezes {
            let entry = &found.entry;
            let (amount, progress) = (text(entry.amount, unit), text(entry.progress, unit));
            say(&format!("  {} {:?} {amount}, relayed {progress}, {}", entry.request_id, entry.state, entry.gateway))?;
        }
        Ok(())
    }
}

/// Flags of `tollgate compare`.
#[derive(Debug, Args)]
pub struct Compare {
    /// Only this tenant (t_...); every tenant without it.
    #[arg(long, value_name = "ID")]
    tenant: Option<TenantId>,
    #[command(flatten)]
    servers: Servers,
}

impl Compare {
    /// Compares Redis with Postgres; ends with an error where a copy is wrong.
    pub async fn run(self) -> anyhow::Result<()> {
        let (store, ledger) = self.servers.connect().await?;
        let tenants = match self.tenant {
            Some(tenant) => vec![tenant],
            None => {
                let mut connection = store.acquire().await?;
                store::scopes::tenants(&mut connection).await.context(crate::OLD_SCHEMA)?
            }
        };
        let (mut accounts, mut wrong) = (0, 0);
        for tenant in &tenants {
            let (books, unit) = read(&store, &ledger, *tenant).await?;
            accounts += books.accounts.len();
            for book in books.accounts.iter().filter(|book| book.verdict.is_wrong()) {
                wrong += 1;
                print(book, unit)?;
            }
        }
        say(&format!("{} tenants, {accounts} accounts, {wrong} wrong", tenants.len()))?;
        if wrong > 0 {
            bail!(
                "mend a copy that is `different` or `frozen_differs` by `tollgate rebuild TENANT`; one that is `ahead` means that PostgreSQL lost commits: restore it first"
            );
        }
        Ok(())
    }
}

/// Flags of `tollgate rebuild`.
#[derive(Debug, Args)]
pub struct Rebuild {
    /// The tenant (t_...).
    tenant: TenantId,
    /// Only say what differs.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    servers: Servers,
}

impl Rebuild {
    /// Has Redis' copy of one tenant loaded anew from Postgres.
    pub async fn run(self) -> anyhow::Result<()> {
        let (store, ledger) = self.servers.connect().await?;
        let (books, unit) = read(&store, &ledger, self.tenant).await?;
        for book in books.accounts.iter().filter(|book| book.verdict != Verdict::Equal) {
            print(book, unit)?;
        }
        if self.dry_run {
            return say("nothing was done (--dry-run)");
        }
        let home = store::pools::home(&mut *store.acquire().await?, self.tenant).await?;
        books::rebuild(&ledger, home).await?;
        note(&store, "tenant.rebuild", self.tenant, &self.tenant.to_string(), json!({})).await?;
        say(
            "the copy is loaded from PostgreSQL by the next request, which may wait for up to 3 s; no freeze was touched",
        )
    }
}

/// Flags of `tollgate roll-back`.
#[derive(Debug, Args)]
pub struct RollBack {
    /// The tenant (t_...).
    tenant: TenantId,
    /// The request whose freeze is to end without a charge (req_...).
    request: RequestId,
    /// Why, for the audit log.
    #[arg(long)]
    reason: String,
    #[command(flatten)]
    servers: Servers,
}

impl RollBack {
    /// Ends one freeze without a charge.
    pub async fn run(self) -> anyhow::Result<()> {
        let (store, ledger) = self.servers.connect().await?;
        let unit = unit(&store, self.tenant).await?;
        match books::roll_back(&ledger, &store, self.tenant, self.request).await? {
            RolledBack::Done { amount } => {
                let given_back = text(amount, unit);
                let after = json!({"given_back": given_back, "reason": self.reason});
                note(&store, "freeze.roll_back", self.tenant, &self.request.to_string(), after).await?;
                say(&format!("{given_back} given back; if the call still ends and reports its usage, that is charged"))
            }
            RolledBack::AlreadyRecorded => say("the request had ended already; its freeze is gone"),
            RolledBack::NotFound => bail!("no freeze of {} (see `tollgate show {}`)", self.request, self.tenant),
        }
    }
}

async fn unit(store: &Store, tenant: TenantId) -> anyhow::Result<Unit> {
    let mut connection = store.acquire().await?;
    let tenant = store::tenants::get(&mut connection, tenant, &Reach::All).await.context("no such tenant")?;
    let unit = [Unit::Credit, Unit::Token].into_iter().find(|unit| unit.as_str() == tenant.unit);
    unit.context("an unknown unit: is this program older than the schema?")
}

async fn read(store: &Store, ledger: &Ledger, tenant: TenantId) -> anyhow::Result<(Books, Unit)> {
    let unit = unit(store, tenant).await?;
    let scopes = {
        let mut connection = store.acquire().await?;
        store::scopes::of_tenant(&mut connection, tenant, SCOPES).await.context(crate::OLD_SCHEMA)?
    };
    Ok((books::read(ledger, store, tenant, &scopes).await?, unit))
}

fn text(amount: Amount, unit: Unit) -> String {
    AmountText::of(amount, unit).to_string()
}

fn print(book: &Book, unit: Unit) -> anyhow::Result<()> {
    let numbers = |numbers: &domain::Numbers| {
        let total = numbers.total.map_or_else(|| "no limit".to_owned(), |total| text(total, unit));
        let of = |amount: Amount| text(amount, unit);
        let remaining = numbers.remaining().map_or_else(|| "no limit".to_owned(), of);
        let (used, frozen) = (of(numbers.used), of(numbers.frozen));
        format!("total {total}, used {used}, frozen {frozen}, remaining {remaining}, version {}", numbers.version)
    };
    say(&format!("{}: {}, {}", book.scope, book.verdict.as_str(), book.truth.status.as_str()))?;
    say(&format!("  PostgreSQL: {}", numbers(&domain::Numbers::of(&book.truth, book.frozen))))?;
    match &book.copy {
        Some(copy) => say(&format!("  Redis:      {}", numbers(copy))),
        None => say("  Redis:      none; the next request loads it"),
    }
}

async fn note(
    store: &Store,
    action: &str,
    tenant: TenantId,
    target: &str,
    after: serde_json::Value,
) -> anyhow::Result<()> {
    let mut transaction = store.begin().await?;
    let entry = Entry {
        actor: "cli",
        action,
        target,
        tenant_id: Some(tenant),
        before: None,
        after: Some(after),
        address: None,
        request_id: None,
    };
    audit::append(&mut transaction, &entry).await?;
    transaction.commit().await.context("it was done, but not noted in the audit log")?;
    Ok(())
}
