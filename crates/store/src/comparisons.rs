//! What a comparison of both copies reads of a tenant beside its accounts, and how comparisons are noted.

use domain::period::PeriodKind;
use domain::{Amount, Multiplier, ReconciliationId, TenantId};
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{Error, Reach};

/// What a tenant was charged lately, in units, and what else its accounts are judged by.
#[derive(Debug, Clone)]
pub struct Facts {
    /// In the last hour, up to the last full quarter.
    pub last_hour: i128,
    /// In the 24 hours before that.
    pub day_before: i128,
    /// In the same hour of the day before.
    pub same_hour: i128,
    /// In the last 7 days.
    pub week: i128,
    /// Whether the tenant is older than that.
    pub is_week_old: bool,
    /// What its plan gives, and for how long.
    pub plan: Option<(Amount, PeriodKind)>,
    /// Percent used at which it is warned.
    pub thresholds: Vec<u32>,
    /// The part of a freeze by which its settle may leave debt without an alert.
    pub settle_tolerance: Multiplier,
    /// `credit` or `token`.
    pub unit: String,
    /// Its time zone, an IANA name.
    pub time_zone: String,
    /// Its projects and keys that may not be used.
    pub inactive: Vec<Uuid>,
    /// Postgres' clock, ms since 1970.
    pub now_ms: i64,
}

/// Has comparisons of one tenant follow one another until the transaction ends.
///
/// # Errors
/// Those of Postgres.
pub async fn lock(conn: &mut PgConnection, tenant: TenantId) -> Result<(), Error> {
    sqlx::query!("SELECT pg_advisory_xact_lock(hashtext('tollgate.compare'), hashtext($1))", tenant.to_string())
        .execute(conn)
        .await?;
    Ok(())
}

/// Reads a tenant's facts.
///
/// # Errors
/// Those of Postgres.
pub async fn facts(conn: &mut PgConnection, tenant: TenantId) -> Result<Facts, Error> {
    let row = sqlx::query!(
        r#"WITH quarter AS (SELECT quarter_of(now()) AS end)
           SELECT coalesce(sum(u.charge) FILTER (WHERE u.quarter >= q.end - interval '1 hour' AND u.quarter < q.end), 0)::text AS "last_hour!",
                  coalesce(sum(u.charge) FILTER (WHERE u.quarter >= q.end - interval '25 hours' AND u.quarter < q.end - interval '1 hour'), 0)::text AS "day_before!",
                  coalesce(sum(u.charge) FILTER (WHERE u.quarter >= q.end - interval '25 hours' AND u.quarter < q.end - interval '24 hours'), 0)::text AS "same_hour!",
                  coalesce(sum(u.charge), 0)::text AS "week!", t.created_at < now() - interval '7 days' AS "is_week_old!",
                  (SELECT p.amount FROM plans p WHERE p.tenant_id = $1) AS "plan: i64", t.period_kind, t.unit, t.time_zone,
                  coalesce(t.settings -> 'thresholds', '[90, 100]'::jsonb) AS "thresholds!",
                  coalesce(t.settings ->> 'settle_tolerance', '0.05') AS "settle_tolerance!",
                  ARRAY(SELECT p.id FROM projects p WHERE p.tenant_id = $1 AND p.status <> 'active' UNION ALL
                        SELECT k.id FROM api_keys k WHERE k.tenant_id = $1 AND k.status <> 'active') AS "inactive!",
                  (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS "now_ms!"
           FROM tenants t CROSS JOIN quarter q
           LEFT JOIN usage_quarters u ON u.tenant_id = t.id AND u.quarter >= now() - interval '7 days'
           WHERE t.id = $1 GROUP BY t.id, q.end"#,
        tenant.uuid(),
    )
    .fetch_one(conn)
    .await?;
    let units = |text: &str| text.parse().map_err(|why| Error::corrupt("usage_quarters.charge", why));
    let kind =
        PeriodKind::parse(&row.period_kind).ok_or_else(|| Error::corrupt("tenants.period_kind", &row.period_kind))?;
    let plan = row.plan.map(Amount::new).transpose().map_err(|why| Error::corrupt("plans.amount", why))?;
    Ok(Facts {
        last_hour: units(&row.last_hour)?,
        day_before: units(&row.day_before)?,
        same_hour: units(&row.same_hour)?,
        week: units(&row.week)?,
        is_week_old: row.is_week_old,
        plan: plan.map(|amount| (amount, kind)),
        thresholds: serde_json::from_value(row.thresholds)
            .map_err(|why| Error::corrupt("tenants.settings.thresholds", why))?,
        settle_tolerance: Multiplier::parse(&row.settle_tolerance)
            .map_err(|why| Error::corrupt("tenants.settings.settle_tolerance", why))?,
        unit: row.unit,
        time_zone: row.time_zone,
        inactive: row.inactive,
        now_ms: row.now_ms,
    })
}

/// The largest freeze among the tenant's last 1 000 requests.
///
/// # Errors
/// Those of Postgres.
pub async fn largest_freeze(conn: &mut PgConnection, tenant: TenantId) -> Result<Amount, Error> {
    let units = sqlx::query_scalar!(
        r#"SELECT coalesce(max(frozen), 0)::bigint AS "units!" FROM (
               SELECT frozen FROM usage_records WHERE tenant_id = $1 ORDER BY request_id DESC LIMIT 1000) latest"#,
        tenant.uuid(),
    );
    Amount::new(units.fetch_one(conn).await?).map_err(|why| Error::corrupt("usage_records.frozen", why))
}

/// What a comparison came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Accounts looked at.
    pub accounts: i64,
    /// Of them, wrong in Redis or not adding up.
    pub differences: i64,
    /// Of them, loaded anew from Postgres.
    pub repaired: i64,
    /// Alerts that hold now.
    pub alerts: i64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, of: Self) {
        self.accounts += of.accounts;
        self.differences += of.differences;
        self.repaired += of.repaired;
        self.alerts += of.alerts;
    }
}

/// A comparison as stored.
#[derive(Debug, Clone)]
pub struct Reconciliation {
    /// Id.
    pub id: Uuid,
    /// Of this tenant; none: of every.
    pub tenant_id: Option<Uuid>,
    /// Whether it only looked.
    pub dry_run: bool,
    /// Who wanted it.
    pub actor: String,
    /// `running`, `done` or `failed`.
    pub state: String,
    /// Accounts looked at.
    pub accounts: i64,
    /// Of them, wrong.
    pub differences: i64,
    /// Of them, loaded anew.
    pub repaired: i64,
    /// Alerts that held.
    pub alerts: i64,
    /// When it began.
    pub started_at: OffsetDateTime,
    /// When it ended.
    pub ended_at: Option<OffsetDateTime>,
}

/// Notes that a comparison begins. Those whose maker died with them are noted as failed: the actor's own where only one of its
/// kind works at a time, and what began 6 hours ago.
///
/// # Errors
/// Those of Postgres.
pub async fn begin(
    conn: &mut PgConnection,
    tenant: Option<TenantId>,
    dry_run: bool,
    actor: &str,
) -> Result<ReconciliationId, Error> {
    sqlx::query!(
        "UPDATE reconciliations SET state = 'failed', ended_at = clock_timestamp()
         WHERE state = 'running' AND (actor = 'reconciler' AND $1 = 'reconciler' OR started_at < now() - interval '6 hours')",
        actor
    )
    .execute(&mut *conn)
    .await?;
    let id = ReconciliationId::generate();
    sqlx::query!(
        "INSERT INTO reconciliations (id, tenant_id, dry_run, actor) VALUES ($1, $2, $3, $4)",
        id.uuid(),
        tenant.map(TenantId::uuid),
        dry_run,
        actor,
    )
    .execute(conn)
    .await?;
    Ok(id)
}

/// Notes how a comparison ended.
///
/// # Errors
/// Those of Postgres.
pub async fn end(conn: &mut PgConnection, id: ReconciliationId, counts: Counts, is_whole: bool) -> Result<(), Error> {
    sqlx::query!(
        "UPDATE reconciliations SET accounts = $2, differences = $3, repaired = $4, alerts = $5,
                state = CASE WHEN $6 THEN 'done' ELSE 'failed' END, ended_at = clock_timestamp() WHERE id = $1",
        id.uuid(),
        counts.accounts,
        counts.differences,
        counts.repaired,
        counts.alerts,
        is_whole,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// How long ago the reconciler's last whole comparison began, in ms; none: never.
///
/// # Errors
/// Those of Postgres.
pub async fn last_ms(conn: &mut PgConnection) -> Result<Option<i64>, Error> {
    let last = sqlx::query_scalar!(
        r#"SELECT (extract(epoch FROM clock_timestamp() - max(started_at)) * 1000)::bigint AS ms
           FROM reconciliations WHERE actor = 'reconciler' AND state = 'done' AND started_at > now() - interval '40 days'"#
    );
    Ok(last.fetch_one(conn).await?)
}

/// Comparisons, newest first, below the id `after`. A caller limited to some tenants sees those of them alone.
///
/// # Errors
/// Those of Postgres.
pub async fn list(
    conn: &mut PgConnection,
    after: Option<Uuid>,
    limit: i64,
    reach: &Reach,
) -> Result<Vec<Reconciliation>, Error> {
    let within = reach.ids();
    let rows = sqlx::query_as!(
        Reconciliation,
        "SELECT id, tenant_id, dry_run, actor, state, accounts, differences, repaired, alerts, started_at, ended_at
         FROM reconciliations WHERE ($1::uuid IS NULL OR id < $1) AND ($2::uuid[] IS NULL OR tenant_id = ANY ($2))
         ORDER BY id DESC LIMIT $3",
        after,
        within.as_deref(),
        limit,
    );
    Ok(rows.fetch_all(conn).await?)
}

/// A comparison.
///
/// # Errors
/// `NotFound`.
pub async fn get(conn: &mut PgConnection, id: ReconciliationId) -> Result<Reconciliation, Error> {
    let row = sqlx::query_as!(
        Reconciliation,
        "SELECT id, tenant_id, dry_run, actor, state, accounts, differences, repaired, alerts, started_at, ended_at
         FROM reconciliations WHERE id = $1",
        id.uuid(),
    );
    Ok(row.fetch_one(conn).await?)
}
