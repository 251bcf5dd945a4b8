//! The freeze: one question to the ledger, and its refusals as replies.

use std::time::Duration;

use domain::{Level, Numbers, Unit};
use jiff::Timestamp;
use quota::{Admission, Ask, Freeze, Refusal};

use crate::error::{ApiError, Detail};
use crate::life::Call;
use crate::life::estimate::Plan;

/// `Retry-After` of a used up quota whose reset is not sooner.
const QUOTA_RETRY: Duration = Duration::from_secs(60);

/// Freezes what the plan wants, at least what it needs.
///
/// # Errors
/// Refused, inactive, or nobody can decide.
pub async fn admit(call: &Call, plan: &Plan) -> Result<Freeze, ApiError> {
    let of = &call.caller.context;
    let ask = Ask {
        request_id: call.context.id,
        tenant_id: of.tenant_id,
        project_id: of.project_id,
        key_id: of.key_id,
        scopes: call.caller.scopes(call.context.started_at),
        want: plan.want,
        need: plan.need,
        model: plan.model.name.clone(),
    };
    let admission = call.app.quota.admit(ask).await;
    let (outcome, level) = match &admission {
        Ok(Admission::Admitted(_)) => ("frozen", "none"),
        Ok(Admission::Refused(refusal)) => ("refused", refusal.level.as_str()),
        Ok(Admission::Inactive { level, .. }) => ("inactive", level.as_str()),
        Err(_) => ("unavailable", "none"),
    };
    metrics::counter!("tollgate_gateway_freezes_total", "outcome" => outcome, "level" => level).increment(1);
    match admission {
        Ok(Admission::Admitted(freeze)) => Ok(freeze),
        Ok(Admission::Refused(refusal)) => {
            let resets_at = call.caller.resets_at(refusal.level, Timestamp::now());
            Err(refused(&refusal, resets_at, of.unit, of.hard_stop))
        }
        Ok(Admission::Inactive { level: Level::Tenant, status }) => {
            Err(ApiError::suspended(Level::Tenant, &status.to_string()))
        }
        Ok(Admission::Inactive { .. }) => Err(ApiError::invalid_api_key("The API key is disabled or has expired.")),
        Err(error) => {
            tracing::error!(request_id = %call.context.id, %error, "no freeze: the ledger can't be asked");
            Err(ApiError::ledger_unavailable())
        }
    }
}

/// A refusal as its reply.
#[must_use]
pub fn refused(refusal: &Refusal, resets_at: Option<Timestamp>, unit: Unit, hard_stop: bool) -> ApiError {
    let numbers = &refusal.numbers;
    let own_end = numbers.valid_until_ms.and_then(|ms| Timestamp::from_millisecond(ms).ok());
    let resets_at = resets_at.or(own_end);
    let detail = Detail {
        level: Some(refusal.level),
        limit: Some(refusal.limit.clone()),
        unit,
        total: numbers.total,
        used: Some(numbers.used),
        frozen: Some(numbers.frozen),
        remaining: numbers.remaining(),
        resets_at: resets_at.map(|at| at.to_string()),
    };
    let whole = |after: Duration| after.as_secs().saturating_add(u64::from(after.subsec_nanos() > 0)).max(1);
    let retry_after = refusal.retry_after.map(whole);
    let until_reset = resets_at.and_then(|at| Duration::try_from(at.duration_since(Timestamp::now())).ok()).map(whole);
    match refusal.limit.as_str() {
        "quota" if refusal.level == Level::Tenant && (hard_stop || is_beyond_credit(numbers)) => {
            ApiError::payment_required(detail)
        }
        "quota" | "max_per_request" => {
            let most = QUOTA_RETRY.as_secs();
            ApiError::insufficient_quota(detail, retry_after.or(until_reset).unwrap_or(most).min(most))
        }
        _ => ApiError::rate_limited(detail, retry_after.unwrap_or(1)),
    }
}

/// The tenant has an overdraft, and not even that suffices; or it owes more than it may.
fn is_beyond_credit(numbers: &Numbers) -> bool {
    let (Some(total), Some(limit)) = (numbers.total, numbers.limit) else { return false };
    let has_overdraft = limit > total.saturating_add(numbers.credit_limit);
    has_overdraft || numbers.used > limit
}
