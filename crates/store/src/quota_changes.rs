//! Quota changes: deltas to a tenant's grants or to a budget, each a row.
//!
//! A decrease has steps. Pending: the account's limit is lowered, version + 1, so that nothing is admitted above it. Then Redis
//! tests it on live freezes. Then it is committed or cancelled. One at a time per scope; a stale one is cancelled.

use domain::ids::QuotaChangeId;
use domain::{Amount, Scope, Snapshot, TenantId};
use serde_json::Value;
use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::grants::book::Book;
use crate::{Error, Window, accounts, plans, thresholds};

/// A change to be made.
#[derive(Debug, Clone)]
pub struct NewChange {
    /// Its id.
    pub id: QuotaChangeId,
    /// Whose quota.
    pub tenant_id: TenantId,
    /// The account.
    pub scope: Scope,
    /// By how much; never zero.
    pub delta: Amount,
    /// Whether the plan (tenant) or budget (project, key) changes for later periods too.
    pub recurring: bool,
    /// For people.
    pub reason: String,
    /// Who makes it.
    pub actor: String,
}

/// A change that was made.
#[derive(Debug, Clone)]
pub struct QuotaChange {
    /// Its id.
    pub id: QuotaChangeId,
    /// By how much.
    pub delta: Amount,
    /// Whether later periods change too.
    pub recurring: bool,
    /// For people.
    pub reason: String,
    /// Who made it.
    pub actor: String,
    /// The numbers before, as the API showed them.
    pub before: Value,
    /// The numbers after.
    pub after: Value,
    /// When it was asked for.
    pub created_at: OffsetDateTime,
}

/// Why a change was not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// There is no grant in force to raise, or the grants give less than is to be taken.
    Grants,
    /// The account has no limit to change.
    NoLimit,
    /// The plan or budget of later periods would not be above zero, or there is none.
    Recurring,
    /// It is not pending any more.
    Decided,
}

/// Lowers the limit of the scope by a decrease and keeps it as pending.
///
/// # Errors
/// `AlreadyExists` while another one of this scope is pending: roll back. `NotFound` without an account.
pub async fn begin(conn: &mut PgConnection, new: &NewChange) -> Result<Snapshot, Error> {
    accounts::lock(conn, std::slice::from_ref(&new.scope)).await?;
    insert(conn, new, "pending").await?;
    sqlx::query!(
        "UPDATE accounts SET pending_decrease = pending_decrease - $2::bigint, version = version + 1, updated_at = clock_timestamp()
         WHERE scope = $1",
        new.scope.to_string(),
        new.delta.units()
    )
    .execute(&mut *conn)
    .await?;
    accounts::snapshots(conn, std::slice::from_ref(&new.scope)).await?.into_iter().next().ok_or(Error::NotFound)
}

/// Makes a pending decrease final: takes it from the grants in reverse burn order, or from the budget. On a refusal roll back,
/// then cancel.
///
/// # Errors
/// What Postgres refused.
pub async fn commit(conn: &mut PgConnection, new: &NewChange) -> Result<Result<(), Refusal>, Error> {
    accounts::lock(conn, std::slice::from_ref(&new.scope)).await?;
    if !decide(conn, new.id, "committed").await? {
        return Ok(Err(Refusal::Decided));
    }
    release(conn, &new.scope, new.delta.units()).await?;
    apply(conn, new).await
}

/// Makes an increase, at once.
///
/// # Errors
/// What Postgres refused.
pub async fn raise(conn: &mut PgConnection, new: &NewChange) -> Result<Result<(), Refusal>, Error> {
    accounts::lock(conn, std::slice::from_ref(&new.scope)).await?;
    insert(conn, new, "committed").await?;
    apply(conn, new).await
}

/// Changes the totals; version + 1. Also for trying out a change in a transaction that is rolled back.
///
/// # Errors
/// What Postgres refused.
pub async fn apply(conn: &mut PgConnection, new: &NewChange) -> Result<Result<(), Refusal>, Error> {
    let units = new.delta.units();
    match &new.scope {
        Scope::Tenant(tenant_id) => {
            if new.recurring && !plans::change_amount(conn, *tenant_id, units).await? {
                return Ok(Err(Refusal::Recurring));
            }
            let mut book = Book::open(conn, *tenant_id).await?;
            let is_done = if units > 0 { book.raise(units)? } else { book.decrease(-units)? };
            if !is_done {
                return Ok(Err(Refusal::Grants));
            }
            book.close(conn, &new.actor, &new.reason).await?;
        }
        Scope::Project(..) | Scope::Key(..) => {
            if new.recurring && !change_budget(conn, &new.scope, units).await? {
                return Ok(Err(Refusal::Recurring));
            }
            let scope = new.scope.to_string();
            let changed = sqlx::query!(
                "UPDATE accounts SET total = total + $2::bigint, version = version + 1, updated_at = clock_timestamp()
                 WHERE scope = $1 AND total + $2::bigint >= 0",
                scope,
                units
            )
            .execute(&mut *conn)
            .await?;
            if changed.rows_affected() == 0 {
                return Ok(Err(Refusal::NoLimit));
            }
            thresholds::arm(conn, &scope).await?;
            thresholds::cross(conn, &[scope]).await?;
        }
        // A pool's budget is changed as a whole, see `pools::share_out`.
        Scope::Member(..) | Scope::Pool(..) => return Ok(Err(Refusal::NoLimit)),
    }
    Ok(Ok(()))
}

/// Gives the limit of a pending decrease back. `None` where it is not pending any more.
///
/// # Errors
/// What Postgres refused.
pub async fn cancel(conn: &mut PgConnection, id: QuotaChangeId) -> Result<Option<(TenantId, Snapshot)>, Error> {
    let row = sqlx::query!(
        r#"SELECT tenant_id, scope, delta AS "delta!: i64" FROM quota_changes WHERE id = $1 AND state = 'pending'"#,
        id.uuid()
    )
    .fetch_optional(&mut *conn)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let scope: Scope = row.scope.parse().map_err(|why| Error::corrupt("quota_changes.scope", why))?;
    accounts::lock(conn, std::slice::from_ref(&scope)).await?;
    if !decide(conn, id, "cancelled").await? {
        return Ok(None);
    }
    release(conn, &scope, row.delta).await?;
    sqlx::query!(
        "UPDATE accounts SET version = version + 1, updated_at = clock_timestamp() WHERE scope = $1",
        row.scope
    )
    .execute(&mut *conn)
    .await?;
    let snapshot = accounts::snapshots(conn, &[scope]).await?.into_iter().next().ok_or(Error::NotFound)?;
    Ok(Some((TenantId::from_uuid(row.tenant_id), snapshot)))
}

/// Pending decreases older than `seconds`: whoever made them is gone.
///
/// # Errors
/// What Postgres refused.
pub async fn stale(conn: &mut PgConnection, seconds: f64) -> Result<Vec<QuotaChangeId>, Error> {
    let ids = sqlx::query_scalar!(
        "SELECT id FROM quota_changes WHERE state = 'pending' AND created_at < clock_timestamp() - make_interval(secs => $1) ORDER BY id LIMIT 100",
        seconds
    )
    .fetch_all(conn)
    .await?;
    Ok(ids.into_iter().map(QuotaChangeId::from_uuid).collect())
}

/// Keeps the numbers before and after with a committed change.
///
/// # Errors
/// What Postgres refused.
pub async fn describe(conn: &mut PgConnection, id: QuotaChangeId, before: &Value, after: &Value) -> Result<(), Error> {
    sqlx::query!("UPDATE quota_changes SET before = $2, after = $3 WHERE id = $1", id.uuid(), before, after)
        .execute(conn)
        .await?;
    Ok(())
}

/// The committed changes of a tenant, project or key over all its periods; `id` is its text.
///
/// # Errors
/// What Postgres refused, or a stored value that can't be read.
pub async fn list(conn: &mut PgConnection, id: &str, window: Window) -> Result<Vec<QuotaChange>, Error> {
    let rows = sqlx::query!(
        r#"SELECT id, delta AS "delta!: i64", recurring, reason, actor, coalesce(before, 'null') AS "before!", coalesce(after, 'null') AS "after!", created_at
           FROM quota_changes WHERE state = 'committed' AND (scope = $1 OR starts_with(scope, $1 || ':'))
             AND ($2::uuid IS NULL OR CASE WHEN $3 THEN id > $2 ELSE id < $2 END)
           ORDER BY CASE WHEN $3 THEN id END, id DESC LIMIT $4"#,
        id,
        window.after,
        window.ascending,
        window.limit
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(QuotaChange {
                id: QuotaChangeId::from_uuid(row.id),
                delta: Amount::new(row.delta).map_err(|why| Error::corrupt("quota_changes.delta", why))?,
                recurring: row.recurring,
                reason: row.reason,
                actor: row.actor,
                before: row.before,
                after: row.after,
                created_at: row.created_at,
            })
        })
        .collect()
}

async fn insert(conn: &mut PgConnection, new: &NewChange, state: &str) -> Result<(), Error> {
    sqlx::query!(
        "INSERT INTO quota_changes (id, tenant_id, scope, delta, recurring, reason, state, actor, decided_at)
         VALUES ($1, $2, $3, $4::bigint, $5, $6, $7, $8, CASE WHEN $7 = 'pending' THEN NULL ELSE clock_timestamp() END)",
        new.id.uuid(),
        new.tenant_id.uuid(),
        new.scope.to_string(),
        new.delta.units(),
        new.recurring,
        new.reason,
        state,
        new.actor
    )
    .execute(conn)
    .await?;
    Ok(())
}

async fn decide(conn: &mut PgConnection, id: QuotaChangeId, state: &str) -> Result<bool, Error> {
    let decided = sqlx::query!(
        "UPDATE quota_changes SET state = $2, decided_at = clock_timestamp() WHERE id = $1 AND state = 'pending'",
        id.uuid(),
        state
    )
    .execute(conn)
    .await?;
    Ok(decided.rows_affected() == 1)
}

/// Takes a decrease of `delta` (below zero) off what is pending. Whoever calls raises the version.
async fn release(conn: &mut PgConnection, scope: &Scope, delta: i64) -> Result<(), Error> {
    sqlx::query!(
        "UPDATE accounts SET pending_decrease = pending_decrease + $2::bigint WHERE scope = $1",
        scope.to_string(),
        delta
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// The budget of later periods. False where there is none, or not that much.
async fn change_budget(conn: &mut PgConnection, scope: &Scope, units: i64) -> Result<bool, Error> {
    let changed = match scope {
        Scope::Tenant(_) | Scope::Member(..) | Scope::Pool(..) => return Ok(false),
        Scope::Project(id, _) => {
            sqlx::query!(
            "UPDATE projects SET budget_amount = budget_amount + $2::bigint, updated_at = now(), version = version + 1
                 WHERE id = $1 AND budget_amount + $2::bigint >= 0",
            id.uuid(),
            units
        )
            .execute(conn)
            .await?
        }
        Scope::Key(id, _) => {
            sqlx::query!(
            "UPDATE api_keys SET budget_amount = budget_amount + $2::bigint, updated_at = now(), version = version + 1
                 WHERE id = $1 AND budget_amount + $2::bigint >= 0",
            id.uuid(),
            units
        )
            .execute(conn)
            .await?
        }
    };
    Ok(changed.rows_affected() == 1)
}
