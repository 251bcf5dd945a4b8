//! The load transaction: opens accounts that are not there yet, applies what is due at this instant, returns snapshots.

use domain::grant::{Change, GrantKind, GrantStatus};
use domain::{Amount, GrantId, Home, Limits, Scope, Snapshot, TenantId};
use sqlx::{Connection, PgConnection};

use crate::grants::NewGrant;
use crate::grants::book::Book;
use crate::key_context::unit;
use crate::plans::StoredPlan;
use crate::{Error, accounts, instant, keys, plans, pools, projects};

/// Who makes the changes that time makes.
const CLOCK: &str = "clock";

/// What a load found.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// One per scope, in the order asked for.
    pub snapshots: Vec<Snapshot>,
    /// Where the tenant's accounts live now, read after the snapshots: where this is not the place that they are loaded for,
    /// they may not be trusted there.
    pub home: Home,
    /// How long until totals change by themselves next, by Postgres' clock, in ms. Where that instant has passed by Redis'
    /// clock already, wait this long and load again.
    pub wait_ms: Option<i64>,
}

/// Loads the accounts of one request. Reads without locks where nothing is due.
///
/// # Errors
/// `NotFound` where a scope has no account and none can be opened; what Postgres refused.
pub async fn load(conn: &mut PgConnection, tenant_id: TenantId, scopes: &[Scope]) -> Result<Loaded, Error> {
    let found = accounts::snapshots(conn, scopes).await?;
    let now_ms = now_ms(conn).await?;
    let due = found.iter().any(|snapshot| snapshot.valid_until_ms.is_some_and(|until| until <= now_ms));
    let found = if due || found.len() < scopes.len() {
        let mut transaction = conn.begin().await?;
        for scope in scopes.iter().filter(|scope| !found.iter().any(|snapshot| snapshot.scope == **scope)) {
            open(&mut transaction, tenant_id, scope).await?;
        }
        if due {
            apply_due(&mut transaction, tenant_id).await?;
        }
        let found = accounts::snapshots(&mut transaction, scopes).await?;
        transaction.commit().await?;
        found
    } else {
        found
    };
    let wait_ms = found
        .iter()
        .filter_map(|snapshot| snapshot.valid_until_ms)
        .map(|until| until - now_ms)
        .filter(|left| *left > 0)
        .min();
    let snapshots = scopes
        .iter()
        .map(|scope| found.iter().find(|snapshot| snapshot.scope == *scope).cloned().ok_or(Error::NotFound))
        .collect::<Result<_, _>>()?;
    Ok(Loaded { snapshots, home: pools::home(conn, tenant_id).await?, wait_ms })
}

/// Opens the account of a project's, key's or pool's period with its budget and limits. A tenant's account is opened with the tenant.
async fn open(conn: &mut PgConnection, tenant_id: TenantId, scope: &Scope) -> Result<(), Error> {
    let owner = match scope {
        Scope::Tenant(_) => None,
        Scope::Project(id, _) => projects::owner(conn, tenant_id, *id).await?,
        Scope::Key(id, _) => keys::owner(conn, tenant_id, *id).await?,
        Scope::Member(pool, _, label) | Scope::Pool(pool, label) => {
            return pools::open(conn, *pool, tenant_id, label).await;
        }
    };
    let owner = owner.ok_or(Error::NotFound)?;
    let limits: Limits =
        serde_json::from_value(owner.limits).map_err(|error| Error::corrupt("projects or api_keys.limits", error))?;
    let account = accounts::NewAccount {
        scope: scope.clone(),
        tenant_id,
        total: owner.budget.map(Amount::new).transpose().map_err(|error| Error::corrupt("budget_amount", error))?,
        credit_limit: Amount::ZERO,
        overdraft_limit: Amount::ZERO,
        overdraft_percent: None,
        limits: limits.in_units(unit(&owner.unit)?).map_err(|error| Error::corrupt("limits", error))?,
    };
    accounts::create(conn, &account).await
}

/// Applies what the clock has made due on a tenant's account: grants that ended lapse, grants that begin are put in force,
/// the plan renews, each period that was missed included. Under the account's lock, so that however many callers find it due
/// it happens once; by Postgres' clock, one version for all of it.
///
/// # Errors
/// What Postgres refused, or a stored value that can't be read.
pub async fn apply_due(conn: &mut PgConnection, tenant_id: TenantId) -> Result<Option<Snapshot>, Error> {
    let mut book = Book::open(conn, tenant_id).await?;
    let mut plan = plans::read(conn, tenant_id).await?;
    let (now, mut is_changed) = (book.now, false);
    loop {
        let due = domain::grant::due(&book.balances(), plan.as_ref().map(|stored| &stored.plan), now);
        if due.changes.is_empty() {
            break;
        }
        is_changed = true;
        for change in &due.changes {
            apply(&mut book, plan.as_ref(), &change.change)?;
        }
        if let (Some(stored), Some(renews_at)) = (&mut plan, due.renews_at) {
            stored.plan.renews_at = renews_at;
        }
        if due.valid_until.is_none_or(|until| until > now) {
            break;
        }
    }
    if !is_changed {
        return Ok(None);
    }
    if let Some(stored) = plan {
        plans::advance(conn, tenant_id, stored.plan.renews_at).await?;
    }
    book.close(conn, CLOCK, "").await.map(Some)
}

/// One change. A period that is over already has only repaid what was owed: its grant begins and ends in the same version.
fn apply(book: &mut Book, plan: Option<&StoredPlan>, change: &Change) -> Result<(), Error> {
    match (change, plan) {
        (Change::Lapse(id), _) => book.end(*id, GrantStatus::Lapsed),
        (Change::Start(id), _) => book.start(*id),
        (Change::Renew { .. }, None) => Ok(()),
        (Change::Renew { starts_at, ends_at }, Some(stored)) => {
            let id = GrantId::generate();
            book.give(NewGrant {
                id,
                tenant_id: book.tenant_id(),
                kind: GrantKind::Plan.as_str().to_owned(),
                amount: stored.plan.amount,
                priority: stored.plan.priority,
                starts_at: Some(instant::write("plans.renews_at", *starts_at)?),
                ends_at: Some(instant::write("plans.renews_at", *ends_at)?),
                note: stored.note.clone(),
                actor: stored.created_by.clone(),
            })?;
            if *ends_at <= book.now { book.end(id, GrantStatus::Lapsed) } else { Ok(()) }
        }
    }
}

/// Tenants whose totals should have changed by now: for the reconciler, on behalf of those that send no request.
///
/// # Errors
/// What Postgres refused.
pub async fn due_tenants(conn: &mut PgConnection, limit: i64) -> Result<Vec<TenantId>, Error> {
    let ids = sqlx::query_scalar!(
        r#"SELECT tenant_id AS "tenant_id!" FROM accounts WHERE valid_until <= clock_timestamp() AND level = 'tenant' ORDER BY valid_until LIMIT $1"#,
        limit
    )
    .fetch_all(conn)
    .await?;
    Ok(ids.into_iter().map(TenantId::from_uuid).collect())
}

/// Postgres' clock, ms since 1970.
async fn now_ms(conn: &mut PgConnection) -> Result<i64, Error> {
    let now = sqlx::query_scalar!(r#"SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS "now!""#)
        .fetch_one(conn)
        .await?;
    Ok(now)
}
