//! The four numbers: what Postgres has recorded, with what Redis holds in flight.

use std::collections::HashMap;
use std::time::Duration;

use api_types::{Decimal, Numbers, Overdraft, Timestamp};
use domain::{Amount, Home, LimitUse, Scope, TenantId, Unit};
use store::PgConnection;
use store::tenants::Tenant;
use time::OffsetDateTime;

use crate::app::App;
use crate::error::{Error, Result};
use crate::scopes::{self, Present};

/// How long Redis is waited for before the numbers are Postgres' alone.
const WITHIN: Duration = Duration::from_millis(800);

/// The unit of a stored tenant.
///
/// # Errors
/// 500 for a word that this version does not know.
pub fn unit(tenant: &Tenant) -> Result<Unit> {
    unit_of(&tenant.unit)
}

/// The unit of a stored word.
///
/// # Errors
/// 500 for a word that this version does not know.
pub fn unit_of(word: &str) -> Result<Unit> {
    [Unit::Credit, Unit::Token]
        .into_iter()
        .find(|unit| unit.as_str() == word)
        .ok_or_else(|| Error::internal("an unknown unit"))
}

/// The numbers of a tenant.
///
/// # Errors
/// Those of the store.
pub async fn of_tenant(app: &App, conn: &mut PgConnection, tenant: &Tenant) -> Result<Numbers> {
    one(app, conn, tenant, scopes::tenant(tenant)).await
}

/// The numbers of one scope of a tenant.
///
/// # Errors
/// Those of the store.
pub async fn one(app: &App, conn: &mut PgConnection, tenant: &Tenant, present: Present) -> Result<Numbers> {
    let mut all = of_scopes(app, conn, tenant, vec![present]).await?;
    all.pop().ok_or_else(|| Error::internal("no numbers of a scope"))
}

/// The numbers of some scopes of one tenant, in the order asked for.
///
/// # Errors
/// Those of the store.
pub async fn of_scopes(
    app: &App,
    conn: &mut PgConnection,
    tenant: &Tenant,
    presents: Vec<Present>,
) -> Result<Vec<Numbers>> {
    of_home(app, conn, unit(tenant)?, Home::Tenant(tenant.id), presents).await
}

/// The numbers of some scopes of a tenant, wherever these live, or of a pool.
///
/// # Errors
/// Those of the store.
pub async fn of_home(
    app: &App,
    conn: &mut PgConnection,
    unit: Unit,
    of: Home,
    presents: Vec<Present>,
) -> Result<Vec<Numbers>> {
    let scopes: Vec<Scope> = presents.iter().map(|present| present.scope.clone()).collect();
    let live = in_redis(app, of, &scopes).await;
    let recorded = recorded(conn, &scopes).await?;
    let has_written = store::upkeep::has_written(conn).await?;
    let now = OffsetDateTime::now_utc();
    Ok(presents
        .into_iter()
        .map(|present| merge(unit, now, &present, live.get(&present.scope), recorded.get(&present.scope), has_written))
        .collect())
}

/// What Postgres has recorded of the accounts of some tenants.
pub type RecordedAll = HashMap<Scope, Recorded>;

/// Reads the accounts of a page of tenants in one go.
///
/// # Errors
/// Those of the store.
pub async fn recorded_of_tenants(conn: &mut PgConnection, tenants: &[Tenant]) -> Result<RecordedAll> {
    let scopes: Vec<Scope> = tenants.iter().map(|tenant| Scope::Tenant(tenant.id)).collect();
    recorded(conn, &scopes).await
}

/// The numbers of a tenant whose account was read already.
///
/// # Errors
/// 500 for a unit that this version does not know.
pub async fn of_tenant_with(app: &App, tenant: &Tenant, recorded: &RecordedAll) -> Result<Numbers> {
    let present = scopes::tenant(tenant);
    let live = in_redis(app, Home::Tenant(tenant.id), std::slice::from_ref(&present.scope)).await;
    let (live, recorded) = (live.get(&present.scope), recorded.get(&present.scope));
    Ok(merge(unit(tenant)?, OffsetDateTime::now_utc(), &present, live, recorded, false))
}

/// What Redis says of the scopes that it knows; nothing while it is away.
async fn in_redis(app: &App, of: Home, scopes: &[Scope]) -> HashMap<Scope, domain::Numbers> {
    let read = async {
        match of {
            Home::Tenant(id) => app.quota().read(id, scopes).await,
            Home::Pool(_) => app.quota().read_at(of, scopes).await,
        }
    };
    match tokio::time::timeout(WITHIN, read).await {
        Ok(Ok(numbers)) => numbers.into_iter().map(|numbers| (numbers.scope.clone(), numbers)).collect(),
        Ok(Err(cause)) => {
            tracing::warn!(%cause, %of, "the numbers are Postgres' alone: nothing is known of what is in flight");
            HashMap::new()
        }
        Err(_) => HashMap::new(),
    }
}

/// How far the limits of a scope are used up; nothing while Postgres or Redis do not answer in time.
pub async fn limits(app: &App, tenant: TenantId, scope: &Scope) -> Vec<LimitUse> {
    match tokio::time::timeout(WITHIN, app.quota().limits(tenant, std::slice::from_ref(scope))).await {
        Ok(Ok(limits)) => limits,
        Ok(Err(cause)) => {
            tracing::warn!(%cause, %tenant, "the use of limits could not be read");
            Vec::new()
        }
        Err(_) => Vec::new(),
    }
}

/// An account in Postgres.
pub struct Recorded {
    snapshot: domain::Snapshot,
    refunded: Amount,
}

async fn recorded(conn: &mut PgConnection, scopes: &[Scope]) -> Result<RecordedAll> {
    let snapshots = store::accounts::snapshots(conn, scopes).await?;
    let refunds: HashMap<Scope, Amount> = store::refunds::read(conn, scopes).await?.into_iter().collect();
    let with_refunds = snapshots.into_iter().map(|snapshot| {
        let refunded = refunds.get(&snapshot.scope).copied().unwrap_or_default();
        (snapshot.scope.clone(), Recorded { snapshot, refunded })
    });
    Ok(with_refunds.collect())
}

/// Redis' numbers are one consistent reading: between a record and its confirm Postgres counts as spent what Redis still
/// counts as frozen. Only the transaction that changes an account sees it as it will be: Postgres' totals.
fn merge(
    unit: Unit,
    now: OffsetDateTime,
    present: &Present,
    live: Option<&domain::Numbers>,
    recorded: Option<&Recorded>,
    has_written: bool,
) -> Numbers {
    let frozen = live.map(|live| live.frozen).unwrap_or_default();
    let numbers = match (live, recorded) {
        (Some(live), Some(recorded)) if !has_written || live.version >= recorded.snapshot.version => live.clone(),
        (_, Some(recorded)) => domain::Numbers::of(&recorded.snapshot, frozen),
        (Some(live), None) => live.clone(),
        (None, None) => not_opened(present),
    };
    let refunded = recorded.map(|recorded| recorded.refunded).unwrap_or_default();
    let shown = shown(unit, now, &numbers, refunded);
    Numbers { resets_at: present.resets_at.map(Timestamp::from).or(shown.resets_at), ..shown }
}

/// The numbers of one account as the API shows them.
pub fn shown(unit: Unit, now: OffsetDateTime, numbers: &domain::Numbers, refunded: Amount) -> Numbers {
    let decimal = |amount: Amount| Decimal::of(amount, unit);
    let overdraft_limit = numbers.overdraft_limit();
    let overdraft_used = numbers.overdraft_used();
    let overdraft_remaining = overdraft_limit.checked_sub(overdraft_used).unwrap_or_default();
    let valid_until = numbers
        .valid_until_ms
        .and_then(|ms| OffsetDateTime::from_unix_timestamp_nanos(i128::from(ms) * 1_000_000).ok());
    Numbers {
        unit,
        total: numbers.total.map(decimal),
        used: decimal(numbers.used),
        frozen: decimal(numbers.frozen),
        remaining: numbers.remaining().map(decimal),
        refunded: decimal(refunded),
        debt: decimal(numbers.debt()),
        overdraft: Overdraft {
            enabled: overdraft_limit.is_positive(),
            limit: decimal(overdraft_limit),
            used: decimal(overdraft_used),
            remaining: decimal(overdraft_remaining),
        },
        period: numbers.scope.period().map(|label| label.as_str().to_owned()).filter(|label| label != "-"),
        resets_at: valid_until.map(Timestamp::from),
        version: numbers.version,
        as_of: now.into(),
    }
}

/// The first request of a period opens its account; until then nothing is spent of the budget.
fn not_opened(present: &Present) -> domain::Numbers {
    domain::Numbers {
        scope: present.scope.clone(),
        total: present.budget,
        used: Amount::ZERO,
        frozen: Amount::ZERO,
        credit_limit: Amount::ZERO,
        limit: present.budget,
        version: 0,
        status: domain::Status::Active,
        valid_until_ms: None,
    }
}
