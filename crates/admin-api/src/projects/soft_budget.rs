//! A project's soft budget: read, checked, shown.

use api_types::project::{SoftAction, SoftBudget};

use crate::auth::Call;
use crate::auth::policy::WriteProjects;
use crate::error::Result;
use crate::validate::Fields;

/// The soft budget asked for, to be stored: of a project with a budget, and naming a model that exists where it downgrades.
///
/// # Errors
/// Those of the store.
pub async fn read(
    call: &mut Call<WriteProjects>,
    fields: &mut Fields,
    soft: &SoftBudget,
    has_budget: bool,
) -> Result<domain::SoftBudget> {
    fields.check(has_budget, "soft_budget", "needs_budget", "is a part of the project's budget, and it has none");
    fields.range("soft_budget.percent", soft.percent, 1, 99);
    let action = match (soft.action, &soft.model) {
        (SoftAction::Warn, model) => {
            let message = "only `downgrade` moves calls to a model: leave it out";
            fields.check(model.is_none(), "soft_budget.model", "invalid", message);
            domain::SoftAction::Warn
        }
        (SoftAction::Downgrade, None) => {
            fields.refuse("soft_budget.model", "required", "name the cheaper model that calls are moved to");
            domain::SoftAction::Downgrade
        }
        (SoftAction::Downgrade, Some(name)) => {
            let known = store::models::unknown_names(&mut call.tx, std::slice::from_ref(name)).await?.is_empty();
            fields.check(known, "soft_budget.model", "not_found", &format!("there is no model {name:?}"));
            domain::SoftAction::Downgrade
        }
    };
    Ok(domain::SoftBudget { percent: soft.percent, action, model: soft.model.clone() })
}

/// A soft budget as the API shows it.
pub fn view(soft: domain::SoftBudget) -> SoftBudget {
    let action = match soft.action {
        domain::SoftAction::Warn => SoftAction::Warn,
        domain::SoftAction::Downgrade => SoftAction::Downgrade,
    };
    SoftBudget { percent: soft.percent, action, model: soft.model }
}
