//! Projects of a tenant.

pub mod archive;
pub mod change;
pub mod create;
pub mod list;
pub mod read;
mod soft_budget;

use api_types::project::{Budget, Project};
use api_types::{Decimal, Numbers};
use domain::Unit;

use crate::error::{Error, Result};
use crate::limits;
use crate::validate::Fields;

/// A project as the API shows it.
///
/// # Errors
/// 500 for a stored word that this version does not know.
pub fn view(project: store::projects::Project, unit: Unit, quota: Numbers) -> Result<Project> {
    Ok(Project {
        id: project.id,
        tenant_id: project.tenant_id,
        status: project
            .status
            .parse()
            .map_err(|_| Error::internal("a project's status that this version does not know"))?,
        budget: project.budget.map(|budget| budget_view(&budget, unit)).transpose()?,
        soft_budget: project.soft_budget.map(soft_budget::view),
        limits: limits::view(&project.limits, unit)?,
        windows: None,
        quota,
        name: project.name,
        created_at: project.created_at.into(),
        version: project.version,
        in_force: None,
    })
}

/// A budget as the API shows it.
///
/// # Errors
/// 500 for a stored word that this version does not know.
pub fn budget_view(budget: &store::projects::Budget, unit: Unit) -> Result<Budget> {
    let period = budget.period.parse().map_err(|_| Error::internal("a period that this version does not know"))?;
    Ok(Budget { amount: Decimal::of(budget.amount, unit), period })
}

/// The budget asked for, to be stored.
pub fn budget(fields: &mut Fields, budget: Option<&Budget>, unit: Unit) -> Option<store::projects::Budget> {
    let budget = budget?;
    let amount = fields.amount("budget.amount", &budget.amount, unit);
    Some(store::projects::Budget { amount, period: budget.period.to_string() })
}
