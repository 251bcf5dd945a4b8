//! The load transaction: opens accounts that are not there yet, applies what is due at this instant, returns snapshots.

use domain::{Amount, GrantId, Limits, Scope, Snapshot, TenantId};
use sqlx::{Connection, PgConnection};

use crate::key_context::unit;
use crate::{Error, accounts, grants, keys, projects};

/// What a load found.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// One per scope, in the order asked for.
    pub snapshots: Vec<Snapshot>,
    /// Set where `valid_until` has passed by Redis' clock but not by Postgres': wait this long and load again, ms.
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
    Ok(Loaded { snapshots, wait_ms })
}

/// Opens the account of a project's or key's period with its budget and limits. A tenant's account is opened with the tenant.
async fn open(conn: &mut PgConnection, tenant_id: TenantId, scope: &Scope) -> Result<(), Error> {
    let owner = match scope {
        Scope::Tenant(_) => None,
        Scope::Project(id, _) => projects::owner(conn, tenant_id, *id).await?,
        Scope::Key(id, _) => keys::owner(conn, tenant_id, *id).await?,
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
        limits: limits.in_units(unit(&owner.unit)?).map_err(|error| Error::corrupt("limits", error))?,
    };
    accounts::create(conn, &account).await
}

/// Applies what the clock has made due on a tenant's account: grants that ended lapse, grants that begin are put in force.
/// Under the account's lock, so that however many callers find it due it happens once.
///
/// # Errors
/// What Postgres refused.
pub async fn apply_due(conn: &mut PgConnection, tenant_id: TenantId) -> Result<Option<Snapshot>, Error> {
    let scope = Scope::Tenant(tenant_id);
    let Some(before) = accounts::lock(conn, std::slice::from_ref(&scope)).await?.into_iter().next() else {
        return Ok(None);
    };
    if before.valid_until_ms.is_none_or(|until| until > i64::MAX - 1)
        || before.valid_until_ms > Some(now_ms(conn).await?)
    {
        return Ok(None);
    }
    lapse(conn, tenant_id, before.version + 1).await?;
    let starting = sqlx::query_scalar!(
        "SELECT grant_id FROM grant_balances WHERE tenant_id = $1 AND status = 'pending' AND starts_at <= clock_timestamp()
         ORDER BY starts_at, grant_id",
        tenant_id.uuid()
    )
    .fetch_all(&mut *conn)
    .await?;
    for grant in starting {
        grants::start(conn, GrantId::from_uuid(grant), "clock").await?;
    }
    grants::bump(conn, tenant_id).await.map(Some)
}

/// Tenants whose totals should have changed by now: for the reconciler, on behalf of those that send no request.
///
/// # Errors
/// What Postgres refused.
pub async fn due_tenants(conn: &mut PgConnection, limit: i64) -> Result<Vec<TenantId>, Error> {
    let ids = sqlx::query_scalar!(
        "SELECT tenant_id FROM accounts WHERE valid_until <= clock_timestamp() AND level = 'tenant' ORDER BY valid_until LIMIT $1",
        limit
    )
    .fetch_all(conn)
    .await?;
    Ok(ids.into_iter().map(TenantId::from_uuid).collect())
}

/// Ends the grants whose time is over: what was left of them and what was spent of them leave the account together.
async fn lapse(conn: &mut PgConnection, tenant_id: TenantId, version: i64) -> Result<(), Error> {
    let ended = sqlx::query!(
        r#"UPDATE grant_balances SET status = 'lapsed'
           WHERE tenant_id = $1 AND status = 'in_force' AND ends_at <= clock_timestamp()
           RETURNING grant_id, amount AS "amount!: i64", used AS "used!: i64""#,
        tenant_id.uuid()
    )
    .fetch_all(&mut *conn)
    .await?;
    for grant in &ended {
        sqlx::query!(
            "UPDATE accounts SET total = total - $2::bigint, used = used - $3::bigint,
                    lapsed_amount = CASE WHEN lapse_version = $4 THEN lapsed_amount ELSE 0 END + $2::bigint - $3::bigint,
                    lapse_version = $4
             WHERE scope = $1",
            tenant_id.to_string(),
            grant.amount,
            grant.used,
            version
        )
        .execute(&mut *conn)
        .await?;
        grants::event(
            conn,
            GrantId::from_uuid(grant.grant_id),
            tenant_id,
            "lapsed",
            -grant.amount,
            version,
            "clock",
            "",
        )
        .await?;
    }
    Ok(())
}

/// Postgres' clock, ms since 1970.
async fn now_ms(conn: &mut PgConnection) -> Result<i64, Error> {
    let now = sqlx::query_scalar!(r#"SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS "now!""#)
        .fetch_one(conn)
        .await?;
    Ok(now)
}
