//! Refusals of the quota and of limits, with their numbers.

use std::time::Duration;

use domain::Level;
use http::StatusCode;

use super::{ApiError, Detail, Kind};

/// What SDKs wait at most when they are told how long. A longer `Retry-After` they replace by seconds of their own, and
/// their retries can't succeed.
const WAITED_FOR: Duration = Duration::from_secs(60);

impl ApiError {
    /// The refusal of a quota or a budget.
    #[must_use]
    pub fn insufficient_quota(detail: Detail, retry_after: Duration) -> Self {
        let level = detail.level.map_or("tenant", Level::as_str);
        let left = detail.remaining.map_or_else(|| "nothing".to_owned(), |left| left.format(detail.unit));
        let message = match detail.level {
            Some(Level::Pool) => "The pool that this tenant shares has no room for this request now.".to_owned(),
            _ => format!("The quota of this {level} does not cover this request: {left} remaining."),
        };
        let remedy = match detail.level {
            Some(Level::Key) => "Raise the key's budget or wait for its next period.",
            Some(Level::Project) => "Raise the project's budget or wait for its next period.",
            Some(Level::Pool | Level::Member) => {
                "Raise the pool's budget or this tenant's weight in it, or wait for the next period."
            }
            _ => "Add quota to the tenant or wait for its next period.",
        };
        let mut error =
            Self::new(StatusCode::TOO_MANY_REQUESTS, "insufficient_quota", Kind::InsufficientQuota, message, remedy)
                .with_retry(Some(retry_after), false);
        error.detail = Some(Box::new(detail));
        error
    }

    /// The request alone needs more than one request may set aside.
    #[must_use]
    pub fn too_large_a_request(detail: Detail) -> Self {
        let (level, most) = (detail.level.map_or("tenant", Level::as_str), detail.total.unwrap_or_default());
        let message = format!(
            "This request needs more than the {} that one request of this {level} may take.",
            most.format(detail.unit)
        );
        let remedy = "Send a shorter prompt, or have `max_per_request` raised.";
        let mut error =
            Self::new(StatusCode::TOO_MANY_REQUESTS, "insufficient_quota", Kind::InsufficientQuota, message, remedy)
                .with_retry(None, false);
        error.detail = Some(Box::new(detail));
        error
    }

    /// The overdraft is used up, there is a debt, or the tenant stops hard.
    #[must_use]
    pub fn payment_required(detail: Detail) -> Self {
        let message = "The quota is used up and no further overdraft is possible.";
        let remedy = "Add quota to the tenant; what is owed is repaid first.";
        let mut error =
            Self::new(StatusCode::PAYMENT_REQUIRED, "payment_required", Kind::PaymentRequired, message, remedy)
                .with_retry(None, false);
        error.detail = Some(Box::new(detail));
        error
    }

    /// A rate or in-flight limit refused; without `retry_after` the request alone is beyond it.
    #[must_use]
    pub fn rate_limited(detail: Detail, retry_after: Option<Duration>) -> Self {
        let (level, limit) = (detail.level.map_or("tenant", Level::as_str), detail.limit.as_deref().unwrap_or("rate"));
        let (message, remedy) = if retry_after.is_some() {
            (format!("The limit `{limit}` of this {level} is reached."), "Send the request again after Retry-After.")
        } else {
            let message = format!("This request alone is beyond the limit `{limit}` of this {level}.");
            (message, "Send a shorter prompt, or have the limit raised.")
        };
        let mut error =
            Self::new(StatusCode::TOO_MANY_REQUESTS, "rate_limit_exceeded", Kind::RateLimit, message, remedy)
                .with_retry(retry_after, retry_after.is_some_and(|wait| wait <= WAITED_FOR));
        error.detail = Some(Box::new(detail));
        error
    }
}
