//! What a repeated `Idempotency-Key` is told.

use domain::{Amount, RequestId, Unit};
use http::StatusCode;

use super::{ApiError, Detail, Kind, SHORTLY};

impl ApiError {
    /// The same call is still running.
    #[must_use]
    pub fn idempotency_running() -> Self {
        let message = "The first call with this Idempotency-Key is still running.";
        let remedy = "Send the request again after Retry-After.";
        Self::new(StatusCode::CONFLICT, "idempotency_in_progress", Kind::InvalidRequest, message, remedy)
            .with_retry(Some(SHORTLY), true)
    }

    /// The key was used for another call.
    #[must_use]
    pub fn idempotency_mismatch() -> Self {
        let message = "This Idempotency-Key was used for another route or another body.";
        let remedy = "Use a new Idempotency-Key for each call, and the same one only to repeat it unchanged.";
        Self::new(StatusCode::CONFLICT, "idempotency_mismatch", Kind::InvalidRequest, message, remedy)
            .with_retry(None, false)
    }

    /// The call is over, and its reply was streamed or too large to be kept.
    #[must_use]
    pub fn already_done(first: RequestId, charge: Amount, unit: Unit) -> Self {
        let message = format!(
            "The first call with this Idempotency-Key is over: request {first}, charged {}.",
            charge.format(unit)
        );
        let remedy = "Its reply was not kept. Use a new Idempotency-Key to make the call again.";
        let mut error = Self::new(StatusCode::CONFLICT, "already_done", Kind::InvalidRequest, message, remedy)
            .with_retry(None, false);
        error.detail = Some(Box::new(Detail { first: Some((first, charge.format(unit))), ..Detail::default() }));
        error
    }
}
