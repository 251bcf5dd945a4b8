//! The scope of a project or key at this instant: its budget's period, in the tenant's calendar.

use domain::period::{Cycle, PeriodKind, Zone};
use domain::{Amount, KeyId, LimitSet, Limits, PeriodLabel, ProjectId, Scope, TenantId};
use jiff::Timestamp;
use store::accounts::NewAccount;
use store::keys::Key;
use store::projects::{Budget, Project};
use store::tenants::Tenant;

use crate::error::{Error, Result};
use crate::numbers::unit;

/// A scope and when its period ends.
#[derive(Debug, Clone)]
pub struct Present {
    /// The scope.
    pub scope: Scope,
    /// How much per period; none: no limit of its own.
    pub budget: Option<domain::Amount>,
    /// When the next period begins.
    pub resets_at: Option<time::OffsetDateTime>,
    /// Its limits beside the budget, in units.
    pub limits: LimitSet,
}

impl Present {
    /// The account of a project's or key's period, to be opened.
    #[must_use]
    pub fn account(&self, tenant_id: TenantId) -> NewAccount {
        NewAccount {
            scope: self.scope.clone(),
            tenant_id,
            total: self.budget,
            credit_limit: Amount::ZERO,
            overdraft_limit: Amount::ZERO,
            overdraft_percent: None,
            limits: self.limits,
        }
    }
}

/// A tenant's scope: its grants carry their own ends, its settings its limits.
#[must_use]
pub fn tenant(tenant: &Tenant) -> Present {
    Present { scope: Scope::Tenant(tenant.id), budget: None, resets_at: None, limits: LimitSet::default() }
}

/// A project's present scope.
///
/// # Errors
/// 500 where the stored zone or period is not understood.
pub fn project(tenant: &Tenant, project: &Project) -> Result<Present> {
    let id: ProjectId = project.id;
    present(tenant, project.budget.as_ref(), &project.limits, |label| Scope::Project(id, label))
}

/// A key's present scope.
///
/// # Errors
/// 500 where the stored zone or period is not understood.
pub fn key(tenant: &Tenant, key: &Key) -> Result<Present> {
    let id: KeyId = key.id;
    present(tenant, key.budget.as_ref(), &key.limits, |label| Scope::Key(id, label))
}

fn present(
    tenant: &Tenant,
    budget: Option<&Budget>,
    limits: &Limits,
    scope: impl Fn(PeriodLabel) -> Scope,
) -> Result<Present> {
    let limits = limits.in_units(unit(tenant)?).map_err(Error::internal)?;
    let Some(budget) = budget else {
        return Ok(Present { scope: scope(PeriodLabel::none()), budget: None, resets_at: None, limits });
    };
    let zone = Zone::parse(&tenant.time_zone).map_err(Error::internal)?;
    let kind =
        PeriodKind::parse(&budget.period).ok_or_else(|| Error::internal("a budget's period that is not known"))?;
    let period = Cycle::new(kind, None).map_err(Error::internal)?.current(&zone, Timestamp::now());
    let resets_at =
        time::OffsetDateTime::from_unix_timestamp_nanos(period.end.as_nanosecond()).map_err(Error::internal)?;
    Ok(Present { scope: scope(period.label), budget: Some(budget.amount), resets_at: Some(resets_at), limits })
}
