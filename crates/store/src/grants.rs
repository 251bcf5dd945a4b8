//! Grants: quota given to a tenant. Rows and events are append-only; balances and the account follow in the same transaction.

use domain::{Amount, GrantId, Scope, Snapshot, TenantId};
use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::{Error, accounts, allocate};

/// What is left of a grant in force, in units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Balance {
    /// The grant.
    pub grant_id: GrantId,
    /// Whose.
    pub tenant_id: TenantId,
    /// Given in all.
    pub amount: i64,
    /// Spent of it.
    pub used: i64,
}

/// A grant to be given.
#[derive(Debug, Clone)]
pub struct NewGrant {
    /// Its id.
    pub id: GrantId,
    /// To whom.
    pub tenant_id: TenantId,
    /// `plan`, `temporary` or `gift`.
    pub kind: String,
    /// How much; above zero.
    pub amount: Amount,
    /// Lower is spent first.
    pub priority: i32,
    /// From when; None: from now.
    pub starts_at: Option<OffsetDateTime>,
    /// Until when; None: for good.
    pub ends_at: Option<OffsetDateTime>,
    /// A remark for people.
    pub note: String,
    /// Who gave it.
    pub actor: String,
}

/// A grant with what is left of it.
#[derive(Debug, Clone)]
pub struct Grant {
    /// Its id.
    pub id: GrantId,
    /// Whose.
    pub tenant_id: TenantId,
    /// `plan`, `temporary` or `gift`.
    pub kind: String,
    /// Given in all, adjustments included.
    pub amount: Amount,
    /// Spent of it.
    pub used: Amount,
    /// Lower is spent first.
    pub priority: i32,
    /// From when.
    pub starts_at: OffsetDateTime,
    /// Until when; None: for good.
    pub ends_at: Option<OffsetDateTime>,
    /// `pending`, `in_force`, `ended` or `lapsed`.
    pub status: String,
    /// A remark for people.
    pub note: String,
    /// When it was given.
    pub created_at: OffsetDateTime,
}

/// The grants in force of some tenants, in burn order: priority, then the earliest end, then the oldest. The caller holds the accounts' locks.
pub(crate) async fn in_force(conn: &mut PgConnection, tenants: &[TenantId]) -> Result<Vec<Balance>, Error> {
    let ids: Vec<uuid::Uuid> = tenants.iter().map(|tenant| tenant.uuid()).collect();
    let rows = sqlx::query!(
        r#"SELECT grant_id, tenant_id, amount AS "amount!: i64", used AS "used!: i64" FROM grant_balances
           WHERE tenant_id = ANY($1) AND status = 'in_force'
           ORDER BY priority, ends_at NULLS LAST, created_at, grant_id"#,
        &ids
    )
    .fetch_all(conn)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Balance {
            grant_id: GrantId::from_uuid(row.grant_id),
            tenant_id: TenantId::from_uuid(row.tenant_id),
            amount: row.amount,
            used: row.used,
        })
        .collect())
}

/// Gives a grant, in force at once or from its start on. Returns the tenant's account after it.
///
/// # Errors
/// `NotFound` without an account of the tenant; what Postgres refused.
pub async fn add(conn: &mut PgConnection, grant: &NewGrant) -> Result<Snapshot, Error> {
    let scope = Scope::Tenant(grant.tenant_id);
    let before = accounts::lock(conn, std::slice::from_ref(&scope)).await?.into_iter().next().ok_or(Error::NotFound)?;
    let row = sqlx::query!(
        r#"INSERT INTO grants (id, tenant_id, kind, amount, priority, starts_at, ends_at, note, created_by)
           VALUES ($1, $2, $3, $4::bigint, $5, coalesce($6, clock_timestamp()), $7, $8, $9)
           RETURNING starts_at, starts_at > clock_timestamp() AS "pending!", created_at"#,
        grant.id.uuid(),
        grant.tenant_id.uuid(),
        grant.kind,
        grant.amount.units(),
        grant.priority,
        grant.starts_at,
        grant.ends_at,
        grant.note,
        grant.actor
    )
    .fetch_one(&mut *conn)
    .await?;
    sqlx::query!(
        "INSERT INTO grant_balances (grant_id, tenant_id, kind, amount, priority, starts_at, ends_at, created_at, status)
         VALUES ($1, $2, $3, $4::bigint, $5, $6, $7, $8, 'pending')",
        grant.id.uuid(),
        grant.tenant_id.uuid(),
        grant.kind,
        grant.amount.units(),
        grant.priority,
        row.starts_at,
        grant.ends_at,
        row.created_at
    )
    .execute(&mut *conn)
    .await?;
    event(conn, grant.id, grant.tenant_id, "created", 0, before.version + 1, &grant.actor, &grant.note).await?;
    sqlx::query!(
        "UPDATE accounts SET granted_sum = granted_sum + $2::bigint WHERE scope = $1",
        scope.to_string(),
        grant.amount.units()
    )
    .execute(&mut *conn)
    .await?;
    if !row.pending {
        start(conn, grant.id, &grant.actor).await?;
    }
    bump(conn, grant.tenant_id).await
}

/// Puts a pending grant in force: what is used beyond the other grants (debt first, then overdraft and credit line) is paid from it.
pub(crate) async fn start(conn: &mut PgConnection, grant_id: GrantId, actor: &str) -> Result<(), Error> {
    let grant = sqlx::query!(
        r#"UPDATE grant_balances SET status = 'in_force' WHERE grant_id = $1 AND status = 'pending'
           RETURNING tenant_id, amount AS "amount!: i64""#,
        grant_id.uuid()
    )
    .fetch_one(&mut *conn)
    .await?;
    let tenant_id = TenantId::from_uuid(grant.tenant_id);
    let account = sqlx::query!(
        r#"UPDATE accounts SET total = coalesce(total, 0) + $2::bigint WHERE scope = $1
           RETURNING used AS "used!: i64", version"#,
        tenant_id.to_string(),
        grant.amount
    )
    .fetch_one(&mut *conn)
    .await?;
    let mut balances = in_force(conn, &[tenant_id]).await?;
    let covered: i64 = balances.iter().map(|balance| balance.used).sum();
    let fresh = balances.iter_mut().find(|balance| balance.grant_id == grant_id);
    if let Some(fresh) = fresh {
        let paid: i64 = allocate::split(std::slice::from_mut(fresh), (account.used - covered).max(0))
            .iter()
            .map(|part| part.1)
            .sum();
        sqlx::query!("UPDATE grant_balances SET used = $2::bigint WHERE grant_id = $1", grant_id.uuid(), paid)
            .execute(&mut *conn)
            .await?;
    }
    event(conn, grant_id, tenant_id, "started", grant.amount, account.version + 1, actor, "").await
}

/// Raises the version of the tenant's account and sets when its totals change by themselves next.
pub(crate) async fn bump(conn: &mut PgConnection, tenant_id: TenantId) -> Result<Snapshot, Error> {
    sqlx::query!(
        "UPDATE accounts SET version = version + 1, updated_at = clock_timestamp(), valid_until = (
             SELECT min(at) FROM (
                 SELECT starts_at AS at FROM grant_balances WHERE tenant_id = $2 AND status = 'pending'
                 UNION ALL SELECT ends_at FROM grant_balances WHERE tenant_id = $2 AND status = 'in_force'
                 UNION ALL SELECT renews_at FROM plans WHERE tenant_id = $2) due)
         WHERE scope = $1",
        tenant_id.to_string(),
        tenant_id.uuid()
    )
    .execute(&mut *conn)
    .await?;
    let snapshots = accounts::snapshots(conn, &[Scope::Tenant(tenant_id)]).await?;
    snapshots.into_iter().next().ok_or(Error::NotFound)
}

#[expect(clippy::too_many_arguments, reason = "one argument per column of the row")]
pub(crate) async fn event(
    conn: &mut PgConnection,
    grant_id: GrantId,
    tenant_id: TenantId,
    kind: &str,
    delta: i64,
    version: i64,
    actor: &str,
    reason: &str,
) -> Result<(), Error> {
    sqlx::query!(
        "INSERT INTO grant_events (grant_id, tenant_id, kind, delta, account_version, actor, reason)
         VALUES ($1, $2, $3, $4::bigint, $5, $6, $7)",
        grant_id.uuid(),
        tenant_id.uuid(),
        kind,
        delta,
        version,
        actor,
        reason
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// A tenant's grants in burn order, ended ones last.
///
/// # Errors
/// What Postgres refused, or a stored value that can't be read.
pub async fn list(conn: &mut PgConnection, tenant_id: TenantId) -> Result<Vec<Grant>, Error> {
    let rows = sqlx::query!(
        r#"SELECT g.id, g.tenant_id, g.kind, b.amount AS "amount!: i64", b.used AS "used!: i64", b.priority, b.starts_at,
                  b.ends_at, b.status, g.note, g.created_at
           FROM grants g JOIN grant_balances b ON b.grant_id = g.id WHERE g.tenant_id = $1
           ORDER BY b.status IN ('ended', 'lapsed'), b.priority, b.ends_at NULLS LAST, b.created_at, g.id"#,
        tenant_id.uuid()
    )
    .fetch_all(conn)
    .await?;
    let amount = |units: i64| Amount::new(units).map_err(|error| Error::corrupt("grant_balances.amount", error));
    rows.into_iter()
        .map(|row| {
            Ok(Grant {
                id: GrantId::from_uuid(row.id),
                tenant_id: TenantId::from_uuid(row.tenant_id),
                kind: row.kind,
                amount: amount(row.amount)?,
                used: amount(row.used)?,
                priority: row.priority,
                starts_at: row.starts_at,
                ends_at: row.ends_at,
                status: row.status,
                note: row.note,
                created_at: row.created_at,
            })
        })
        .collect()
}
