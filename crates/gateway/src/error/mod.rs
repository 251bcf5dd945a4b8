//! The one place where a failure becomes a status, a code and a body.
//!
//! Causes go to the log; what a client reads names the level, the limit, the four numbers and what to do.

mod once;
mod quota;
mod upstream;

use std::borrow::Cow;
use std::time::Duration;

use axum::response::{IntoResponse, Response};
use domain::{Amount, Level, RequestId, Unit};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::{Value, json};

use crate::dialect::field::BadField;
use crate::request_context::{RequestContext, Shape};

/// For what is over soon.
const SHORTLY: Duration = Duration::from_secs(1);

/// The kinds of errors, as the OpenAI dialect names them in `type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The request is at fault.
    InvalidRequest,
    /// The key is at fault.
    Authentication,
    /// The caller may not.
    Permission,
    /// Too fast.
    RateLimit,
    /// Nothing left to spend.
    InsufficientQuota,
    /// A debt, or a hard stop.
    PaymentRequired,
    /// Ours, or the upstream's.
    Server,
}

impl Kind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request_error",
            Self::Authentication => "authentication_error",
            Self::Permission => "permission_error",
            Self::RateLimit => "rate_limit_error",
            Self::InsufficientQuota => "insufficient_quota",
            Self::PaymentRequired => "payment_required",
            Self::Server => "server_error",
        }
    }
}

/// The numbers of the limit that refused.
#[derive(Debug, Clone, Default)]
pub struct Detail {
    /// The level that refused.
    pub level: Option<Level>,
    /// The limit's name: `quota`, `rpm`...
    pub limit: Option<String>,
    /// The amounts' unit.
    pub unit: Unit,
    /// The scope's total; none where it has no limit.
    pub total: Option<Amount>,
    /// Spent.
    pub used: Option<Amount>,
    /// In flight.
    pub frozen: Option<Amount>,
    /// Left.
    pub remaining: Option<Amount>,
    /// When it renews, RFC 3339.
    pub resets_at: Option<String>,
    /// What the reply's head says of it.
    pub headers: HeaderMap,
    /// The request that this one repeats, and what it was charged.
    pub first: Option<(RequestId, String)>,
}

/// An error as a client sees it.
#[derive(Debug, Clone)]
pub struct ApiError {
    /// HTTP status.
    pub status: StatusCode,
    /// Stable code.
    pub code: Cow<'static, str>,
    kind: Kind,
    message: String,
    param: Option<String>,
    remedy: &'static str,
    retry_after: Option<Duration>,
    should_retry: Option<bool>,
    detail: Option<Box<Detail>>,
}

impl ApiError {
    fn new(
        status: StatusCode,
        code: &'static str,
        kind: Kind,
        message: impl Into<String>,
        remedy: &'static str,
    ) -> Self {
        Self {
            status,
            code: Cow::Borrowed(code),
            kind,
            message: message.into(),
            param: None,
            remedy,
            retry_after: None,
            should_retry: None,
            detail: None,
        }
    }

    /// No key, a wrong one, a revoked or expired one: all look alike from outside.
    #[must_use]
    pub fn invalid_api_key(message: &'static str) -> Self {
        let remedy = "Send a valid key as `Authorization: Bearer tg_live_...` or `x-api-key`.";
        Self::new(StatusCode::UNAUTHORIZED, "invalid_api_key", Kind::Authentication, message, remedy)
    }

    /// The tenant or its project is not active.
    #[must_use]
    pub fn suspended(level: Level, status: &str) -> Self {
        let message = format!("The {level} of this key is {status}.");
        let remedy = "Ask your operator to resume it.";
        let mut error = Self::new(StatusCode::FORBIDDEN, "tenant_suspended", Kind::Permission, message, remedy)
            .with_retry(None, false);
        error.detail = Some(Box::new(Detail { level: Some(level), ..Detail::default() }));
        error
    }

    /// The key may not be used from where the call comes from.
    #[must_use]
    pub fn address_not_allowed() -> Self {
        let message = "This API key may not be used from this address.";
        let remedy = "Call from an address in the key's ranges, or have them changed.";
        Self::new(StatusCode::FORBIDDEN, "address_not_allowed", Kind::Permission, message, remedy)
            .with_retry(None, false)
    }

    /// The model does not exist, has no price or target, or is not for this key: all look alike from outside.
    #[must_use]
    pub fn model_not_found(model: &str) -> Self {
        let message = format!("The model `{model}` does not exist or is not available to this key.");
        let remedy = "Choose a model listed by GET /v1/models.";
        let mut error = Self::new(StatusCode::NOT_FOUND, "model_not_found", Kind::InvalidRequest, message, remedy);
        error.param = Some("model".to_owned());
        error
    }

    /// The model exists, but neither its mode nor its targets fit the route.
    #[must_use]
    pub fn model_not_on_this_route(model: &str) -> Self {
        let message = format!("The model `{model}` is not served on this route.");
        let remedy =
            "Use a route of the model's mode, in a dialect that one of its targets speaks or can be translated to.";
        let mut error = Self::new(StatusCode::NOT_FOUND, "model_not_found", Kind::InvalidRequest, message, remedy);
        error.param = Some("model".to_owned());
        error
    }

    /// No such path.
    #[must_use]
    pub fn unknown_path() -> Self {
        let message = "There is nothing at this path.";
        Self::new(
            StatusCode::NOT_FOUND,
            "unknown_path",
            Kind::InvalidRequest,
            message,
            "Check the method and the path, without a trailing slash.",
        )
    }

    /// The path exists, but not for this method.
    #[must_use]
    pub fn wrong_method() -> Self {
        let message = "This path does not take this method.";
        Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "method_not_allowed",
            Kind::InvalidRequest,
            message,
            "Use the method the API documents.",
        )
    }

    /// The body is beyond the limit.
    #[must_use]
    pub fn body_too_large(limit: usize) -> Self {
        let message = format!("The request body is larger than {limit} bytes.");
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "request_too_large",
            Kind::InvalidRequest,
            message,
            "Send a smaller request.",
        )
    }

    /// The body did not arrive in time, or broke off.
    #[must_use]
    pub fn body_unreadable(message: &'static str) -> Self {
        Self::new(
            StatusCode::REQUEST_TIMEOUT,
            "request_timeout",
            Kind::InvalidRequest,
            message,
            "Send the request again.",
        )
    }

    /// A header can't be used.
    #[must_use]
    pub fn bad_header(name: &str, why: &str) -> Self {
        let message = format!("The header {name} {why}.");
        let mut error = Self::new(
            StatusCode::BAD_REQUEST,
            "invalid_header",
            Kind::InvalidRequest,
            message,
            "Correct the named header.",
        );
        error.param = Some(name.to_owned());
        error
    }

    /// Redis or Postgres can't decide now.
    #[must_use]
    pub fn ledger_unavailable() -> Self {
        let message = "The quota can't be checked at the moment.";
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "ledger_unavailable",
            Kind::Server,
            message,
            "Send the request again shortly.",
        )
        .with_retry(Some(SHORTLY), true)
    }

    /// The gateway is shutting down, or full.
    #[must_use]
    pub fn shutting_down() -> Self {
        let message = "This gateway is shutting down.";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "shutting_down", Kind::Server, message, "Send the request again.")
            .with_retry(Some(SHORTLY), true)
    }

    /// Something that must not happen; the log has the cause.
    #[must_use]
    pub fn internal() -> Self {
        let message = "The gateway failed.";
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal_error",
            Kind::Server,
            message,
            "Send the request again; if it persists, give the operator the request id.",
        )
    }

    fn with_retry(mut self, after: Option<Duration>, should: bool) -> Self {
        self.retry_after = after;
        self.should_retry = Some(should);
        self
    }

    /// The body in the OpenAI dialect.
    #[must_use]
    pub fn openai_body(&self) -> Value {
        json!({"error": {
            "message": self.message, "type": self.kind.as_str(), "param": self.param, "code": self.code,
            "tollgate": self.tollgate(),
        }})
    }

    fn tollgate(&self) -> Value {
        let detail = self.detail.as_deref().cloned().unwrap_or_default();
        let amount = |amount: Option<Amount>| amount.map(|amount| amount.format(detail.unit));
        let mut tollgate = json!({
            "level": detail.level, "limit": detail.limit, "total": amount(detail.total), "used": amount(detail.used),
            "frozen": amount(detail.frozen), "remaining": amount(detail.remaining), "resets_at": detail.resets_at,
            "remedy": self.remedy,
        });
        if let Some((request_id, charge)) = &detail.first {
            tollgate["request_id"] = json!(request_id);
            tollgate["charge"] = json!(charge);
        }
        tollgate
    }

    /// The body in the Anthropic dialect.
    #[must_use]
    pub fn anthropic_body(&self, request_id: Option<RequestId>) -> Value {
        let kind = match (self.status.as_u16(), self.kind) {
            (404, _) => "not_found_error",
            (413, _) => "request_too_large",
            (_, Kind::InvalidRequest) => "invalid_request_error",
            (_, Kind::Authentication) => "authentication_error",
            (_, Kind::Permission) => "permission_error",
            (_, Kind::RateLimit | Kind::InsufficientQuota) => "rate_limit_error",
            (_, Kind::PaymentRequired) => "billing_error",
            (_, Kind::Server) => "api_error",
        };
        let error = json!({"type": kind, "message": self.message, "code": self.code, "param": self.param, "tollgate": self.tollgate()});
        json!({"type": "error", "error": error, "request_id": request_id})
    }

    /// The error as the last event of a stream.
    #[must_use]
    pub fn to_event(&self, shape: Shape) -> String {
        match shape {
            Shape::OpenAi => format!("data: {}\n\n", self.openai_body()),
            Shape::Anthropic => format!("event: error\ndata: {}\n\n", self.anthropic_body(None)),
        }
    }

    /// The whole reply in the dialect of the request's route.
    #[must_use]
    pub fn to_response(&self, request: &RequestContext) -> Response {
        let body = match request.shape {
            Shape::OpenAi => self.openai_body(),
            Shape::Anthropic => self.anthropic_body(Some(request.id)),
        };
        let mut response = (self.status, axum::Json(body)).into_response();
        response.extensions_mut().insert(ErrorCode(self.code.clone()));
        let headers = response.headers_mut();
        set(headers, "x-request-id", &request.id.to_string());
        if let Some(detail) = &self.detail {
            headers.extend(detail.headers.clone());
        }
        if let Some(after) = self.retry_after {
            set(headers, "retry-after", &after.as_millis().div_ceil(1000).max(1).to_string());
            set(headers, "retry-after-ms", &after.as_millis().max(1).to_string());
        }
        if let Some(should) = self.should_retry {
            set(headers, "x-should-retry", if should { "true" } else { "false" });
        }
        response
    }
}

/// The code of an error reply, for the log and the metrics.
#[derive(Debug, Clone)]
pub struct ErrorCode(pub Cow<'static, str>);

/// Sets a header whose value is known to be plain ASCII.
pub fn set(headers: &mut HeaderMap, name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

impl From<BadField> for ApiError {
    fn from(bad: BadField) -> Self {
        let code = if bad.param.is_empty() { "invalid_json" } else { "invalid_field" };
        let mut error =
            Self::new(StatusCode::BAD_REQUEST, code, Kind::InvalidRequest, bad.message, "Correct the named field.");
        error.param = Some(bad.param).filter(|param| !param.is_empty());
        error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_carries_its_numbers_and_says_not_to_retry() {
        let units = |units| Some(Amount::new(units).unwrap());
        let detail = Detail {
            level: Some(Level::Project),
            limit: Some("quota".to_owned()),
            unit: Unit::Credit,
            total: units(100_000_000),
            used: units(90_000_000),
            frozen: units(10_000_000),
            remaining: units(0),
            resets_at: None,
            headers: HeaderMap::new(),
            first: None,
        };
        let error = ApiError::insufficient_quota(detail, Duration::from_secs(60));
        let body = error.openai_body();
        let tollgate = &body["error"]["tollgate"];
        assert_eq!(body["error"]["code"], "insufficient_quota");
        assert_eq!((&tollgate["level"], &tollgate["limit"]), (&json!("project"), &json!("quota")));
        assert_eq!((&tollgate["used"], &tollgate["remaining"]), (&json!("0.90000000"), &json!("0.00000000")));
        let response = error.to_response(&RequestContext::new("/v1/models", &HeaderMap::new()));
        assert_eq!(response.status(), 429);
        assert_eq!(response.headers()["retry-after"], "60");
        assert_eq!(response.headers()["x-should-retry"], "false");
    }
}
