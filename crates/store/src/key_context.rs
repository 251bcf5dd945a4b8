//! Everything the data plane must know of a key: who it belongs to, what it may do, which budgets apply.

use domain::settings::OutageStep;
use domain::{Amount, KeyId, PoolId, ProjectId, SoftBudget, TenantId, Unit};
use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::{Error, projects};

/// A key with its project and tenant, as they stand in Postgres.
#[derive(Debug, Clone)]
pub struct KeyContext {
    /// The tenant that pays.
    pub tenant_id: TenantId,
    /// The key's project.
    pub project_id: ProjectId,
    /// The key.
    pub key_id: KeyId,
    /// `active`, `disabled` or `deleted`.
    pub key_status: String,
    /// `active` or `archived`.
    pub project_status: String,
    /// `active`, `suspended` or `closed`.
    pub tenant_status: String,
    /// What the tenant is metered in.
    pub unit: Unit,
    /// The tenant's time zone, an IANA name.
    pub time_zone: String,
    /// The factor on every price, a decimal with 4 places.
    pub multiplier: String,
    /// The models this key may use; none: every model.
    pub models: Option<Vec<String>>,
    /// The addresses this key may be used from, in CIDR form; none: everywhere.
    pub ip_ranges: Option<Vec<String>>,
    /// The key's own safety factor on estimates, a decimal with 4 places.
    pub safety_factor: Option<String>,
    /// After this instant the key, or this secret of it, is invalid.
    pub expires_at: Option<OffsetDateTime>,
    /// The tenant has neither credit line nor overdraft, by its own wish.
    pub hard_stop: bool,
    /// Read an answer on to its end when the client leaves, for the upstream's own figure.
    pub drain_on_abort: bool,
    /// What happens from a percentage of the project's budget on.
    pub soft_budget: Option<SoftBudget>,
    /// What the tenant wants while Redis is away.
    pub outage: Vec<OutageStep>,
    /// Percent used at which the tenant is warned, ascending.
    pub thresholds: Vec<u32>,
    /// The key's budget in each period; none without one.
    pub key_budget: Option<Amount>,
    /// The project's budget in each period.
    pub project_budget: Option<Amount>,
    /// The period of the key's budget: `day`, `week`, `month` or `year`; none without a budget.
    pub key_budget_period: Option<String>,
    /// The period of the project's budget.
    pub project_budget_period: Option<String>,
    /// The pool that the tenant is in.
    pub pool: Option<PoolContext>,
}

/// What the data plane must know of a pool.
#[derive(Debug, Clone)]
pub struct PoolContext {
    /// The pool.
    pub id: PoolId,
    /// The period of its budget; none where that never renews.
    pub period: Option<String>,
    /// In which periods begin, an IANA name.
    pub time_zone: String,
}

struct Row {
    id: uuid::Uuid,
    project_id: uuid::Uuid,
    tenant_id: uuid::Uuid,
    key_status: String,
    project_status: String,
    tenant_status: String,
    unit: String,
    time_zone: String,
    multiplier: String,
    models: Option<Vec<String>>,
    ip_ranges: Option<Vec<String>>,
    safety_factor: Option<String>,
    expires_at: Option<OffsetDateTime>,
    hard_stop: bool,
    drain_on_abort: bool,
    soft_budget: Option<serde_json::Value>,
    thresholds: serde_json::Value,
    outage: serde_json::Value,
    key_budget: Option<i64>,
    project_budget: Option<i64>,
    key_budget_period: Option<String>,
    project_budget_period: Option<String>,
    pool_id: Option<uuid::Uuid>,
    pool_period: Option<String>,
    pool_time_zone: Option<String>,
}

/// Looks a key up by the HMAC of its secret. `None` where no key has it.
///
/// # Errors
/// `Unavailable`, or `Corrupt` for a unit this version does not know.
pub async fn find(conn: &mut PgConnection, secret_hash: &[u8]) -> Result<Option<KeyContext>, Error> {
    let row = sqlx::query_as!(
        Row,
        r#"SELECT k.id, k.project_id, k.tenant_id, k.status AS key_status, p.status AS project_status,
                  t.status AS tenant_status, t.unit, t.time_zone, t.multiplier::text AS "multiplier!", k.models, k.ip_ranges,
                  k.safety_factor::text AS safety_factor, least(k.expires_at, r.valid_until) AS expires_at,
                  coalesce(t.settings ->> 'hard_stop' = 'true', false) AS "hard_stop!",
                  coalesce(t.settings ->> 'drain_on_abort' = 'true', false) AS "drain_on_abort!", p.soft_budget,
                  coalesce(t.settings -> 'thresholds', '[90, 100]'::jsonb) AS "thresholds!",
                  coalesce(t.settings -> 'outage', '[{"mode": "allowance"}]'::jsonb) AS "outage!",
                  k.budget_amount AS "key_budget: i64", p.budget_amount AS "project_budget: i64",
                  k.budget_period AS key_budget_period, p.budget_period AS project_budget_period,
                  pool.id AS "pool_id?", pool.budget_period AS pool_period, pool.time_zone AS "pool_time_zone?"
           FROM api_keys k JOIN projects p ON p.id = k.project_id JOIN tenants t ON t.id = k.tenant_id
                LEFT JOIN pool_members m ON m.tenant_id = t.id LEFT JOIN pools pool ON pool.id = m.pool_id
                LEFT JOIN retired_key_secrets r ON r.secret_hash = $1 AND r.key_id = k.id
           WHERE k.secret_hash = $1
              OR k.id = (SELECT key_id FROM retired_key_secrets WHERE secret_hash = $1 AND valid_until > now())"#,
        secret_hash
    )
    .fetch_optional(conn)
    .await?;
    row.map(Row::into_context).transpose()
}

impl Row {
    fn into_context(self) -> Result<KeyContext, Error> {
        Ok(KeyContext {
            tenant_id: TenantId::from_uuid(self.tenant_id),
            project_id: ProjectId::from_uuid(self.project_id),
            key_id: KeyId::from_uuid(self.id),
            key_status: self.key_status,
            project_status: self.project_status,
            tenant_status: self.tenant_status,
            unit: unit(&self.unit)?,
            time_zone: self.time_zone,
            multiplier: self.multiplier,
            models: self.models,
            ip_ranges: self.ip_ranges,
            safety_factor: self.safety_factor,
            expires_at: self.expires_at,
            hard_stop: self.hard_stop,
            drain_on_abort: self.drain_on_abort,
            soft_budget: projects::read_soft(self.soft_budget)?,
            thresholds: serde_json::from_value(self.thresholds)
                .map_err(|why| Error::corrupt("tenants.settings.thresholds", why))?,
            outage: serde_json::from_value(self.outage)
                .map_err(|why| Error::corrupt("tenants.settings.outage", why))?,
            key_budget: budget("api_keys.budget_amount", self.key_budget)?,
            project_budget: budget("projects.budget_amount", self.project_budget)?,
            key_budget_period: self.key_budget_period,
            project_budget_period: self.project_budget_period,
            pool: self.pool_id.zip(self.pool_time_zone).map(|(id, time_zone)| PoolContext {
                id: PoolId::from_uuid(id),
                period: self.pool_period,
                time_zone,
            }),
        })
    }
}

fn budget(what: &'static str, units: Option<i64>) -> Result<Option<Amount>, Error> {
    units.map(|units| Amount::new(units).map_err(|error| Error::corrupt(what, error))).transpose()
}

/// The unit of a stored word.
pub(crate) fn unit(text: &str) -> Result<Unit, Error> {
    [Unit::Credit, Unit::Token]
        .into_iter()
        .find(|unit| unit.as_str() == text)
        .ok_or_else(|| Error::corrupt("tenants.unit", text))
}
