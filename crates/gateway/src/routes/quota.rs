//! `GET /v1/quota`: the caller's limits with the four numbers.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use domain::{Amount, Scope, Status, Unit};
use quota::Numbers;
use serde_json::{Value, json};

use crate::app::App;
use crate::auth::Authenticated;
use crate::error::ApiError;
use crate::keys::Caller;

/// The key's, the project's and the tenant's numbers.
pub async fn get(State(app): State<Arc<App>>, Authenticated { caller, context }: Authenticated) -> Response {
    let scopes = caller.scopes(context.started_at);
    match app.quota.read(caller.context.tenant_id, &scopes).await {
        Ok(found) => {
            let level = |scope: &Scope| {
                found
                    .iter()
                    .find(|numbers| numbers.scope == *scope)
                    .cloned()
                    .unwrap_or_else(|| untouched(scope, &caller))
            };
            let mut levels: Vec<_> = scopes.iter().map(level).collect();
            for numbers in &mut levels {
                let end = caller.resets_at(numbers.scope.level(), context.started_at);
                numbers.valid_until_ms = end.map(jiff::Timestamp::as_millisecond).or(numbers.valid_until_ms);
            }
            Json(shape(&levels, caller.context.unit)).into_response()
        }
        Err(error) => {
            tracing::error!(request_id = %context.id, %error, "the quota could not be read");
            ApiError::ledger_unavailable().to_response(&context)
        }
    }
}

/// A budget's account is opened by its period's first request: until then it is whole.
fn untouched(scope: &Scope, caller: &Caller) -> Numbers {
    let budget = match scope {
        Scope::Key(..) => caller.context.key_budget,
        Scope::Project(..) => caller.context.project_budget,
        Scope::Tenant(_) => None,
    };
    Numbers {
        scope: scope.clone(),
        total: budget,
        used: Amount::ZERO,
        frozen: Amount::ZERO,
        credit_limit: Amount::ZERO,
        limit: budget,
        version: 0,
        status: Status::Active,
        valid_until_ms: None,
    }
}

fn shape(levels: &[Numbers], unit: Unit) -> Value {
    let amount = |amount: Amount| amount.format(unit);
    let level = |numbers: &Numbers| {
        json!({
            "level": numbers.scope.level(), "id": numbers.scope.id(),
            "total": numbers.total.map(amount), "used": amount(numbers.used), "frozen": amount(numbers.frozen),
            "remaining": numbers.remaining().map(amount),
            "resets_at": numbers.valid_until_ms.and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok()).map(|at| at.to_string()),
        })
    };
    let tenant = levels.iter().find(|numbers| matches!(numbers.scope, Scope::Tenant(_)));
    json!({
        "unit": unit,
        "levels": levels.iter().map(level).collect::<Vec<_>>(),
        "limits": [],
        "overdraft": tenant.map_or(Value::Null, |tenant| overdraft(tenant, unit)),
    })
}

/// What was spent beyond the total and the credit line, as far as the overdraft goes.
fn overdraft(tenant: &Numbers, unit: Unit) -> Value {
    let within = tenant.total.map(|total| total.saturating_add(tenant.credit_limit));
    let above = |amount: Amount| {
        within.map_or(Amount::ZERO, |within| amount.checked_sub(within).unwrap_or(Amount::ZERO).max(Amount::ZERO))
    };
    let limit = tenant.limit.map_or(Amount::ZERO, above);
    let used = above(tenant.used).min(limit);
    let remaining = limit.checked_sub(used).unwrap_or(Amount::ZERO);
    json!({"enabled": limit.is_positive(), "limit": limit.format(unit), "used": used.format(unit), "remaining": remaining.format(unit)})
}
