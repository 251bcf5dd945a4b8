//! The freeze: one question to the ledger, and its refusals as replies.

use std::sync::Arc;
use std::time::Duration;

use domain::amount::MAX_UNITS;
use domain::{Level, LimitName, Numbers, Unit};
use jiff::Timestamp;
use quota::{Admission, Ask, Freeze, Refusal, Unavailable};

use crate::error::{ApiError, Detail};
use crate::life::Call;
use crate::life::estimate::Plan;
use crate::rates;

/// `Retry-After` of a used up quota whose reset is not sooner.
const QUOTA_RETRY: Duration = Duration::from_secs(60);

/// How often one request follows its tenant to another place.
const MOVES: usize = 20;

/// `Retry-After` of a limit that does not know when it has room.
const LATER: Duration = Duration::from_secs(1);

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
        tokens_want: i64::try_from(plan.tokens_want).unwrap_or(MAX_UNITS),
        tokens_need: i64::try_from(plan.tokens_need).unwrap_or(MAX_UNITS),
        model: plan.model.name.clone(),
        outage: Arc::clone(&call.caller.outage),
    };
    let admission = admitted(call, ask).await;
    let (outcome, level) = match &admission {
        Ok(Admission::Admitted(_)) => ("frozen", "none"),
        Ok(Admission::Refused(refusal)) => ("refused", refusal.level.as_str()),
        Ok(Admission::Inactive { level, .. }) => ("inactive", level.as_str()),
        Err(_) => ("unavailable", "none"),
    };
    metrics::counter!("tollgate_gateway_freezes_total", "outcome" => outcome, "level" => level).increment(1);
    let reason = match &admission {
        Ok(Admission::Admitted(_)) | Err(_) => None,
        Ok(Admission::Refused(refusal)) => Some(refusal.limit.clone()),
        Ok(Admission::Inactive { .. }) => Some("inactive".to_owned()),
    };
    if let Some(reason) = reason {
        let (tenant_id, project_id, key_id, model) = (of.tenant_id, of.project_id, of.key_id, plan.model.name.clone());
        call.app.refused.count(store::usage::Refusal { tenant_id, project_id, key_id, model, reason });
    }
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
        Err(Unavailable::Away(why)) => {
            tracing::warn!(request_id = %call.context.id, why, "not admitted: Redis is away");
            Err(ApiError::ledger_unavailable())
        }
        Err(error) => {
            tracing::error!(request_id = %call.context.id, %error, "no freeze: the ledger can't be asked");
            Err(ApiError::ledger_unavailable())
        }
    }
}

/// The ledger's decision. Where the tenant has joined a pool or left it since its key was read, the key is read again.
async fn admitted(call: &Call, mut ask: Ask) -> Result<Admission, Unavailable> {
    for _ in 0..MOVES {
        match call.app.quota.admit(ask.clone()).await {
            Err(Unavailable::Moved) => {}
            decided => return decided,
        }
        let caller = call.app.keys.again(&call.caller).await?.ok_or(Unavailable::Busy("the key is gone"))?;
        ask.scopes = caller.scopes(call.context.started_at);
    }
    Err(Unavailable::Moved)
}

/// A refusal as its reply.
#[must_use]
pub fn refused(refusal: &Refusal, resets_at: Option<Timestamp>, unit: Unit, hard_stop: bool) -> ApiError {
    let numbers = &refusal.numbers;
    if let Some(name) = LimitName::parse(&refusal.limit) {
        return limited(refusal, name, unit);
    }
    let own_end = numbers.valid_until_ms.and_then(|ms| Timestamp::from_millisecond(ms).ok());
    let resets_at = resets_at.or(own_end);
    // What a pool's members have spent together is none of one member's business.
    let told = Some(numbers).filter(|_| refusal.level != Level::Pool);
    let detail = Detail {
        level: Some(refusal.level),
        limit: Some(refusal.limit.clone()),
        unit,
        total: told.and_then(|numbers| numbers.total),
        used: told.map(|numbers| numbers.used),
        frozen: told.map(|numbers| numbers.frozen),
        remaining: told.and_then(Numbers::remaining),
        resets_at: resets_at.map(|at| at.to_string()),
        ..Detail::default()
    };
    let until_reset = resets_at.and_then(|at| Duration::try_from(at.duration_since(Timestamp::now())).ok());
    match refusal.limit.as_str() {
        "quota" if is_being_lowered(numbers) => ApiError::rate_limited(detail, Some(LATER)),
        "quota" if refusal.level == Level::Tenant && (hard_stop || is_beyond_credit(numbers)) => {
            ApiError::payment_required(detail)
        }
        "quota" => {
            let after = refusal.retry_after.or(until_reset).unwrap_or(QUOTA_RETRY);
            ApiError::insufficient_quota(detail, after.min(QUOTA_RETRY))
        }
        _ => ApiError::rate_limited(detail, Some(refusal.retry_after.unwrap_or(LATER))),
    }
}

/// The refusal of a limit beside the quota; its numbers are requests or tokens, of `max_per_request` the tenant's unit.
fn limited(refusal: &Refusal, name: LimitName, unit: Unit) -> ApiError {
    let used = refusal.most.and_then(|most| most.checked_sub(refusal.available).ok());
    let resets_at = refusal.retry_after.and_then(|after| jiff::Timestamp::now().checked_add(after).ok());
    let mut detail = Detail {
        level: Some(refusal.level),
        limit: Some(refusal.limit.clone()),
        unit: if name == LimitName::MaxPerRequest { unit } else { Unit::Token },
        total: refusal.most,
        used,
        remaining: Some(refusal.available),
        ..Detail::default()
    };
    match name {
        LimitName::MaxPerRequest => ApiError::too_large_a_request(detail),
        LimitName::InFlight => ApiError::rate_limited(detail, refusal.retry_after),
        LimitName::Rpm | LimitName::Rpd | LimitName::Tpm | LimitName::Tpd => {
            detail.resets_at = resets_at.map(|at| at.to_string());
            rates::refusal_headers(&mut detail.headers, name, refusal);
            ApiError::rate_limited(detail, refusal.retry_after)
        }
    }
}

/// A limit below total and credit line: a decrease is being tested. It is committed or cancelled in a moment, so the same call
/// is worth another try.
fn is_being_lowered(numbers: &Numbers) -> bool {
    let (Some(total), Some(limit)) = (numbers.total, numbers.limit) else { return false };
    limit < total.saturating_add(numbers.credit_limit)
}

/// The tenant has an overdraft, and not even that suffices; or it owes more than it may.
fn is_beyond_credit(numbers: &Numbers) -> bool {
    let (Some(total), Some(limit)) = (numbers.total, numbers.limit) else { return false };
    let has_overdraft = limit > total.saturating_add(numbers.credit_limit);
    has_overdraft || numbers.used > limit
}

#[cfg(test)]
mod tests {
    use domain::{Amount, Scope, Status, TenantId};

    use super::*;

    fn numbers(total: i64, limit: i64, used: i64) -> Numbers {
        let amount = |units| Amount::new(units).unwrap();
        Numbers {
            scope: Scope::Tenant(TenantId::generate()),
            total: Some(amount(total)),
            used: amount(used),
            frozen: Amount::ZERO,
            credit_limit: amount(10),
            limit: Some(amount(limit)),
            version: 1,
            status: Status::Active,
            valid_until_ms: None,
        }
    }

    #[test]
    fn a_decrease_that_is_being_tested_is_no_debt() {
        assert!(is_being_lowered(&numbers(100, 60, 70)), "the limit is below total and credit line");
        assert!(!is_being_lowered(&numbers(100, 110, 70)));
        assert!(!is_being_lowered(&numbers(100, 130, 70)), "an overdraft");
        assert!(is_beyond_credit(&numbers(100, 110, 111)), "it owes more than it may");
    }
}
