//! `GET /v1/quota`: the caller's limits with the four numbers.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use domain::{Amount, Level, LimitName, LimitUse, Scope, Status, Unit};
use quota::Numbers;
use serde_json::{Value, json};

use crate::app::App;
use crate::auth::Authenticated;
use crate::error::ApiError;
use crate::keys::Caller;

/// The key's, the project's and the tenant's numbers.
pub async fn get(State(app): State<Arc<App>>, Authenticated { caller, context }: Authenticated) -> Response {
    let mut scopes = caller.scopes(context.started_at);
    // What a pool's members have spent together is none of one member's business.
    scopes.retain(|scope| !matches!(scope.level(), Level::Pool | Level::Member));
    let tenant = caller.context.tenant_id;
    match tokio::try_join!(app.quota.read(tenant, &scopes), app.quota.limits(tenant, &scopes)) {
        Ok((found, limits)) => {
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
            Json(shape(&levels, &limits, caller.context.unit)).into_response()
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
        Scope::Tenant(_) | Scope::Member(..) | Scope::Pool(..) => None,
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

fn shape(levels: &[Numbers], limits: &[LimitUse], unit: Unit) -> Value {
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
        "limits": limits.iter().map(|limit| limit_shape(limit, unit)).collect::<Vec<_>>(),
        "overdraft": tenant.map_or(Value::Null, |tenant| overdraft(tenant, unit)),
    })
}

/// Numbers of requests and tokens are JSON numbers, the most for one request is an amount.
fn limit_shape(limit: &LimitUse, unit: Unit) -> Value {
    let number = |number: i64| match limit.name {
        LimitName::MaxPerRequest => json!(Amount::new(number).unwrap_or(Amount::MAX).format(unit)),
        _ => json!(number),
    };
    let resets_at = limit.resets_in_ms.filter(|ms| *ms > 0).and_then(|ms| {
        jiff::Timestamp::now().checked_add(jiff::SignedDuration::from_millis(ms)).ok().map(|at| at.to_string())
    });
    json!({
        "level": limit.level, "name": limit.name, "limit": number(limit.most), "used": number(limit.used),
        "remaining": number(limit.remaining()), "resets_at": resets_at,
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
