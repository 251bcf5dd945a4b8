//! What went wrong at the provider.

use std::borrow::Cow;
use std::time::Duration;

use http::StatusCode;

use super::{ApiError, Kind, SHORTLY};

impl ApiError {
    /// The upstream refused our own credentials or account: never the client's fault.
    #[must_use]
    pub fn upstream_auth() -> Self {
        let message = "The provider refused this gateway's account.";
        Self::new(
            StatusCode::BAD_GATEWAY,
            "upstream_auth",
            Kind::Server,
            message,
            "Ask your operator to check the upstream's key and funds.",
        )
    }

    /// Every target is busy.
    #[must_use]
    pub fn upstream_rate_limited(retry_after_s: Option<u64>) -> Self {
        let message = "The provider is rate limiting this model.";
        Self::new(
            StatusCode::TOO_MANY_REQUESTS,
            "upstream_rate_limited",
            Kind::RateLimit,
            message,
            "Send the request again after Retry-After.",
        )
        .with_retry(Some(retry_after_s.map_or(SHORTLY, Duration::from_secs)), true)
    }

    /// The upstream failed.
    #[must_use]
    pub fn upstream_error(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_GATEWAY, "upstream_error", Kind::Server, message, "Send the request again.")
    }

    /// The upstream did not answer in time.
    #[must_use]
    pub fn upstream_timeout() -> Self {
        let message = "The provider did not answer in time.";
        Self::new(StatusCode::GATEWAY_TIMEOUT, "upstream_timeout", Kind::Server, message, "Send the request again.")
    }

    /// What the upstream said about the request itself, already without its secrets.
    #[must_use]
    pub fn passed_on(status: StatusCode, code: Option<String>, message: String, param: Option<String>) -> Self {
        let mut error = Self::new(
            status,
            "upstream_refused",
            Kind::InvalidRequest,
            message,
            "Change the request as the message says.",
        );
        error.code = code.map_or(error.code, Cow::Owned);
        error.param = param;
        error
    }
}
