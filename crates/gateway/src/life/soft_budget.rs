//! A project's soft budget, before anything is frozen: warn, or take the cheaper model. By what is in memory, so that it
//! costs no request a round trip; the freeze alone decides at 100 percent.

use std::sync::Arc;

use domain::{Level, SoftBudget};

use crate::error::ApiError;
use crate::life::Call;
use crate::life::estimate::{self, Plan};

/// Answer tokens by which two models are compared.
const COMPARED_BY: u64 = 1_000;

/// The plan itself where no soft budget is reached; else with a warning, and for the cheaper model where it can serve.
///
/// # Errors
/// None of its own: where the cheaper model can't serve this call, the one asked for does.
pub async fn apply(call: &Arc<Call>, asked: Plan) -> Result<Plan, ApiError> {
    let Some(soft) = reached(call).await else { return Ok(asked) };
    let soft_left = Some(soft.percent_left());
    let cheaper = match soft.cheaper_model().filter(|name| *name != asked.model.name) {
        Some(name) => estimate::plan_for(call, name).await.ok(),
        None => None,
    };
    let cheaper = cheaper.filter(|cheaper| cheaper.cost_of(COMPARED_BY) < asked.cost_of(COMPARED_BY));
    Ok(match cheaper {
        Some(cheaper) => {
            metrics::counter!("tollgate_gateway_downgrades_total").increment(1);
            Plan { soft_left, is_downgraded: true, ..cheaper }
        }
        None => Plan { soft_left, ..asked },
    })
}

async fn reached(call: &Call) -> Option<&SoftBudget> {
    let soft = call.caller.context.soft_budget.as_ref()?;
    let scopes = call.caller.scopes(call.context.started_at);
    let project = scopes.iter().find(|scope| scope.level() == Level::Project)?;
    let told = call.app.quota.project_use(project).await?;
    told.total.is_some_and(|total| soft.is_reached(told.used, total)).then_some(soft)
}
