//! Accounts: the sums of each scope, kept in the transactions that write the rows.

use domain::settings::percent_of;
use domain::{Amount, Home, LimitSet, PoolId, Scope, Snapshot, Status, TenantId};
use sqlx::PgConnection;

use crate::{Error, thresholds};

/// An account to be opened.
#[derive(Debug, Clone)]
pub struct NewAccount {
    /// Whose.
    pub scope: Scope,
    /// The tenant it belongs to.
    pub tenant_id: TenantId,
    /// Zero for a tenant (its grants add to it), the budget of a project or key; None: no limit.
    pub total: Option<Amount>,
    /// Credit line.
    pub credit_limit: Amount,
    /// Overdraft.
    pub overdraft_limit: Amount,
    /// Overdraft as percent of the total; it then takes the place of `overdraft_limit`.
    pub overdraft_percent: Option<u32>,
    /// Rates, in-flight and the most for one request.
    pub limits: LimitSet,
}

/// A row of `accounts` beside the incarnation, as the queries below read it.
pub(crate) struct Row {
    pub scope: String,
    pub incarnation: i64,
    pub version: i64,
    pub total: Option<i64>,
    pub credit_limit: i64,
    pub overdraft_limit: i64,
    pub used: i64,
    pub status: String,
    pub valid_until_ms: Option<i64>,
    pub overdraft_percent: Option<i16>,
    pub pending_decrease: i64,
    pub lapse_version: i64,
    pub lapsed_amount: i64,
    pub limits: String,
    pub share: Option<i64>,
}

impl Row {
    pub(crate) fn snapshot(self) -> Result<Snapshot, Error> {
        let amount = |units: i64, what| Amount::new(units).map_err(|error| Error::corrupt(what, error));
        let total = self.total.map(|units| amount(units, "accounts.total")).transpose()?;
        let credit_limit = amount(self.credit_limit, "accounts.credit_limit")?;
        let overdraft_limit = match (self.overdraft_percent, total) {
            // Of the total as a pending decrease leaves it: what is admitted meanwhile fits when it is committed.
            (Some(percent), Some(total)) => {
                let lowered = amount(total.units() - self.pending_decrease, "accounts.pending_decrease")?;
                percent_of(lowered, u32::try_from(percent).unwrap_or_default())
            }
            _ => amount(self.overdraft_limit, "accounts.overdraft_limit")?,
        };
        let beyond = amount(credit_limit.units() - self.pending_decrease, "accounts.pending_decrease")?;
        Ok(Snapshot {
            scope: self.scope.parse().map_err(|error| Error::corrupt("accounts.scope", error))?,
            incarnation: self.incarnation,
            version: self.version,
            total,
            credit_limit,
            limit: total.map(|total| total.saturating_add(overdraft_limit).saturating_add(beyond)),
            used: amount(self.used, "accounts.used")?,
            status: Status::parse(&self.status).ok_or_else(|| Error::corrupt("accounts.status", &self.status))?,
            valid_until_ms: self.valid_until_ms,
            lapse_version: self.lapse_version,
            lapsed: amount(self.lapsed_amount, "accounts.lapsed_amount")?,
            limits: LimitSet::parse(&self.limits).map_err(|error| Error::corrupt("accounts.limits", error))?,
            share: self.share.map(|units| amount(units, "accounts.share")).transpose()?,
        })
    }
}

/// Opens an account where there is none yet.
///
/// # Errors
/// What Postgres refused.
pub async fn create(conn: &mut PgConnection, account: &NewAccount) -> Result<(), Error> {
    sqlx::query!(
        "INSERT INTO accounts (scope, tenant_id, level, total, credit_limit, overdraft_limit, overdraft_percent, limits)
         VALUES ($1, $2, $3, $4::bigint, $5::bigint, $6::bigint, $7, $8) ON CONFLICT (scope) DO NOTHING",
        account.scope.to_string(),
        account.tenant_id.uuid(),
        account.scope.level().as_str(),
        account.total.map(Amount::units),
        account.credit_limit.units(),
        account.overdraft_limit.units(),
        account.overdraft_percent.map(stored_percent).transpose()?,
        account.limits.packed(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Snapshots of the scopes that have an account, in scope order. Reads without locks.
///
/// # Errors
/// What Postgres refused, or a stored value that can't be read.
pub async fn snapshots(conn: &mut PgConnection, scopes: &[Scope]) -> Result<Vec<Snapshot>, Error> {
    let names: Vec<String> = scopes.iter().map(ToString::to_string).collect();
    let rows = sqlx::query_as!(
        Row,
        r#"SELECT scope, i.incarnation, version, total AS "total: i64", credit_limit AS "credit_limit!: i64",
                  overdraft_limit AS "overdraft_limit!: i64", used AS "used!: i64", status,
                  ceil(extract(epoch FROM valid_until) * 1000)::bigint AS valid_until_ms, overdraft_percent,
                  pending_decrease AS "pending_decrease!: i64", lapse_version, lapsed_amount AS "lapsed_amount!: i64", limits, share AS "share: i64"
           FROM accounts, ledger_incarnation i WHERE scope = ANY($1) ORDER BY scope"#,
        &names
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter().map(Row::snapshot).collect()
}

/// The same with the rows locked until the transaction ends. Always in scope order, so that two transactions never wait for each other.
///
/// # Errors
/// What Postgres refused, or a stored value that can't be read.
pub async fn lock(conn: &mut PgConnection, scopes: &[Scope]) -> Result<Vec<Snapshot>, Error> {
    let names: Vec<String> = scopes.iter().map(ToString::to_string).collect();
    let rows = sqlx::query_as!(
        Row,
        r#"SELECT scope, (SELECT incarnation FROM ledger_incarnation) AS "incarnation!", version, total AS "total: i64",
                  credit_limit AS "credit_limit!: i64", overdraft_limit AS "overdraft_limit!: i64", used AS "used!: i64", status,
                  ceil(extract(epoch FROM valid_until) * 1000)::bigint AS valid_until_ms, overdraft_percent,
                  pending_decrease AS "pending_decrease!: i64", lapse_version, lapsed_amount AS "lapsed_amount!: i64", limits, share AS "share: i64"
           FROM accounts WHERE scope = ANY($1) ORDER BY scope FOR UPDATE"#,
        &names
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter().map(Row::snapshot).collect()
}

/// Accounts that were changed after `since_ms` (ms since 1970), each with its place in Redis: what the reconciler pushes there.
///
/// # Errors
/// What Postgres refused, or a stored value that can't be read.
pub async fn changed_since(conn: &mut PgConnection, since_ms: i64, limit: i64) -> Result<Vec<(Home, Snapshot)>, Error> {
    let rows = sqlx::query!(
        r#"SELECT a.tenant_id, coalesce(a.pool_id, m.pool_id) AS pool_id, scope, (SELECT incarnation FROM ledger_incarnation) AS "incarnation!", version,
                  total AS "total: i64", credit_limit AS "credit_limit!: i64", overdraft_limit AS "overdraft_limit!: i64",
                  used AS "used!: i64", status, ceil(extract(epoch FROM valid_until) * 1000)::bigint AS valid_until_ms, overdraft_percent,
                  pending_decrease AS "pending_decrease!: i64", lapse_version, lapsed_amount AS "lapsed_amount!: i64", limits, share AS "share: i64"
           FROM accounts a LEFT JOIN pool_members m ON m.tenant_id = a.tenant_id
           WHERE updated_at >= to_timestamp($1::bigint / 1000.0) ORDER BY updated_at LIMIT $2"#,
        since_ms,
        limit
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter()
        .map(|row| {
            let snapshot = Row {
                scope: row.scope,
                incarnation: row.incarnation,
                version: row.version,
                total: row.total,
                credit_limit: row.credit_limit,
                overdraft_limit: row.overdraft_limit,
                used: row.used,
                status: row.status,
                valid_until_ms: row.valid_until_ms,
                overdraft_percent: row.overdraft_percent,
                pending_decrease: row.pending_decrease,
                lapse_version: row.lapse_version,
                lapsed_amount: row.lapsed_amount,
                limits: row.limits,
                share: row.share,
            };
            let home = match (row.pool_id, row.tenant_id) {
                (Some(pool), _) => Home::Pool(PoolId::from_uuid(pool)),
                (None, Some(tenant)) => Home::Tenant(TenantId::from_uuid(tenant)),
                (None, None) => return Err(Error::corrupt("accounts.tenant_id", "an account of nobody")),
            };
            Ok((home, snapshot.snapshot()?))
        })
        .collect()
}

/// What an operator sets on an account; each `None` stays as it is.
#[derive(Debug, Clone, Default)]
pub struct Change {
    /// Whether it admits.
    pub status: Option<Status>,
    /// Credit line.
    pub credit_limit: Option<Amount>,
    /// Overdraft, with the percent of the total that takes its place.
    pub overdraft_limit: Option<(Amount, Option<u32>)>,
    /// The budget of a project or key (`Some(None)`: no limit). A tenant's total follows from its grants alone.
    pub budget: Option<Option<Amount>>,
    /// Rates, in-flight and the most for one request.
    pub limits: Option<LimitSet>,
}

/// Changes an account under its lock, version + 1.
///
/// # Errors
/// `NotFound` without an account; what Postgres refused.
pub async fn change(conn: &mut PgConnection, scope: &Scope, change: &Change) -> Result<Snapshot, Error> {
    let percent = change.overdraft_limit.and_then(|(_, percent)| percent).map(stored_percent).transpose()?;
    let row = sqlx::query_as!(
        Row,
        r#"UPDATE accounts SET version = version + 1, updated_at = clock_timestamp(),
                  status = coalesce($2, status), credit_limit = coalesce($3::bigint, credit_limit),
                  overdraft_limit = coalesce($4::bigint, overdraft_limit),
                  overdraft_percent = CASE WHEN $4::bigint IS NULL THEN overdraft_percent ELSE $7 END,
                  total = CASE WHEN $5 AND level <> 'tenant' THEN $6::bigint ELSE total END,
                  limits = coalesce($8, limits)
           WHERE scope = $1
           RETURNING scope, (SELECT incarnation FROM ledger_incarnation) AS "incarnation!", version, total AS "total: i64",
                  credit_limit AS "credit_limit!: i64", overdraft_limit AS "overdraft_limit!: i64", used AS "used!: i64", status,
                  ceil(extract(epoch FROM valid_until) * 1000)::bigint AS valid_until_ms, overdraft_percent,
                  pending_decrease AS "pending_decrease!: i64", lapse_version, lapsed_amount AS "lapsed_amount!: i64", limits, share AS "share: i64""#,
        scope.to_string(),
        change.status.map(Status::as_str),
        change.credit_limit.map(Amount::units),
        change.overdraft_limit.map(|(limit, _)| limit.units()),
        change.budget.is_some(),
        change.budget.flatten().map(Amount::units),
        percent,
        change.limits.map(|limits| limits.packed()),
    )
    .fetch_optional(&mut *conn)
    .await?;
    let snapshot = row.ok_or(Error::NotFound)?.snapshot()?;
    if change.budget.is_some() || change.overdraft_limit.is_some() || change.credit_limit.is_some() {
        thresholds::arm(conn, &scope.to_string()).await?;
        thresholds::cross(conn, &[scope.to_string()]).await?;
    }
    Ok(snapshot)
}

fn stored_percent(percent: u32) -> Result<i16, Error> {
    i16::try_from(percent).map_err(|why| Error::corrupt("accounts.overdraft_percent", why))
}

/// Sets the limits of a project or key on every account of its that is in use: the one of `present`, and those of other
/// periods that changed within a day (requests that crossed the boundary, gateways whose clock is ahead). Version + 1 each;
/// the accounts of a period to come are opened with them. The row of the project or key must be written before.
///
/// # Errors
/// What Postgres refused.
pub async fn set_limits(
    conn: &mut PgConnection,
    tenant_id: TenantId,
    present: &Scope,
    limits: &LimitSet,
) -> Result<Vec<Scope>, Error> {
    let scopes = sqlx::query_scalar!(
        "WITH in_use AS (
             SELECT scope FROM accounts
             WHERE tenant_id = $4 AND (scope = $1
                OR starts_with(scope, $2) AND updated_at > clock_timestamp() - interval '1 day')
             ORDER BY scope FOR UPDATE)
         UPDATE accounts SET limits = $3, version = version + 1, updated_at = clock_timestamp()
         FROM in_use WHERE accounts.scope = in_use.scope RETURNING accounts.scope",
        present.to_string(),
        format!("{}:", present.id()),
        limits.packed(),
        tenant_id.uuid(),
    )
    .fetch_all(conn)
    .await?;
    scopes.iter().map(|scope| scope.parse().map_err(|error| Error::corrupt("accounts.scope", error))).collect()
}
