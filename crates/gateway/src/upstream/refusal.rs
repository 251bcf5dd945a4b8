//! What an upstream's error means for the client, and whether another target may do better.

use bytes::Bytes;
use http::StatusCode;
use serde_json::Value;

use crate::error::ApiError;
use crate::health::Sign;
use crate::upstream::Failure;
use crate::upstream::scrub::scrub;

/// An attempt that failed.
#[derive(Debug)]
pub struct Refusal {
    /// What the client reads if no other target serves.
    pub error: ApiError,
    /// May the next target be tried?
    pub next: bool,
    /// For the record and the log, without secrets.
    pub reason: String,
    /// What it says of the target.
    pub sign: Sign,
}

/// No head came.
#[must_use]
pub fn of_failure(failure: &Failure, key: Option<&str>) -> Refusal {
    match failure {
        Failure::Connect(why) => Refusal {
            error: ApiError::upstream_error("The provider can't be reached."),
            next: true,
            reason: scrub(why, key),
            sign: Sign::Failed,
        },
        // The upstream may be at work on it: a second target would be paid for twice.
        Failure::Timeout => Refusal {
            error: ApiError::upstream_timeout(),
            next: false,
            reason: "time-out".to_owned(),
            sign: Sign::Failed,
        },
        Failure::Broken(why) => Refusal {
            error: ApiError::upstream_error("The provider broke off."),
            next: false,
            reason: scrub(why, key),
            sign: Sign::Failed,
        },
    }
}

/// A head with a status that is no success. `body` is its beginning.
#[must_use]
pub fn of_status(status: StatusCode, retry_after_s: Option<u64>, body: &Bytes, key: Option<&str>) -> Refusal {
    let said = Said::read(body, key);
    let reason = if said.message.is_empty() { format!("status {status}") } else { said.message.clone() };
    if said.is_out_of_funds(status) {
        return Refusal { error: ApiError::upstream_auth(), next: true, reason, sign: Sign::OutOfFunds };
    }
    let (error, next) = match status.as_u16() {
        401..=403 => (ApiError::upstream_auth(), true),
        429 => (ApiError::upstream_rate_limited(retry_after_s), true),
        408 => (ApiError::upstream_timeout(), false),
        504 => (ApiError::upstream_timeout(), true),
        500..=599 => (ApiError::upstream_error("The provider failed."), true),
        400 | 404 | 409 | 413 | 422 => (said.passed_on(status), false),
        _ => (ApiError::upstream_error("The provider answered something that is no answer."), false),
    };
    let sign = if next || status == StatusCode::REQUEST_TIMEOUT { Sign::Failed } else { Sign::Well };
    Refusal { error, next, reason, sign }
}

/// A success that says it is none.
#[must_use]
pub fn of_error_in_success(message: &str, key: Option<&str>) -> Refusal {
    let message = scrub(message, key);
    Refusal {
        error: ApiError::upstream_error(format!("The provider reported an error: {message}")),
        next: false,
        reason: message,
        sign: Sign::None,
    }
}

/// A success that can't be read.
#[must_use]
pub fn of_garbage(what: &str) -> Refusal {
    Refusal {
        error: ApiError::upstream_error("The provider answered something that is no answer."),
        next: false,
        reason: what.to_owned(),
        sign: Sign::Failed,
    }
}

/// What providers call an account that has to be paid for first, as a code or a type.
const FUNDS: [&str; 5] =
    ["insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "billing_error", "insufficient_balance"];
/// Said with status 400.
const FUNDS_MESSAGE: &str = "credit balance is too low";

struct Said {
    message: String,
    kind: Option<String>,
    code: Option<String>,
    param: Option<String>,
}

impl Said {
    fn read(body: &Bytes, key: Option<&str>) -> Self {
        let value: Value = serde_json::from_slice(body).unwrap_or_default();
        let error = value.get("error").filter(|error| error.is_object()).unwrap_or(&value);
        let text = |name: &str| {
            error.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(|text| scrub(text, key))
        };
        let message =
            text("message").or_else(|| value.get("error").and_then(Value::as_str).map(|text| scrub(text, key)));
        Self { message: message.unwrap_or_default(), kind: text("type"), code: text("code"), param: text("param") }
    }

    /// The account at the provider has no funds: never the client's fault, and for minutes at least.
    fn is_out_of_funds(&self, status: StatusCode) -> bool {
        let is_named = [&self.code, &self.kind].into_iter().flatten().any(|word| FUNDS.contains(&word.as_str()));
        match status.as_u16() {
            402 => true,
            403 | 429 => is_named,
            400 => self.message.contains(FUNDS_MESSAGE),
            _ => false,
        }
    }

    fn passed_on(&self, status: StatusCode) -> ApiError {
        let message =
            if self.message.is_empty() { "The provider refused the request.".to_owned() } else { self.message.clone() };
        ApiError::passed_on(status, self.code.clone(), message, self.param.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_without_funds_is_told_from_a_busy_one() {
        let sign = |status: u16, body: &'static str| {
            let status = StatusCode::from_u16(status).unwrap_or_default();
            let refusal = of_status(status, Some(7), &Bytes::from_static(body.as_bytes()), None);
            (refusal.sign, refusal.error.status.as_u16(), refusal.next)
        };
        let quota = r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}"#;
        let low = r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}}"#;
        for (status, body, expected) in [
            (402, "", (Sign::OutOfFunds, 502, true)),
            (429, quota, (Sign::OutOfFunds, 502, true)),
            (400, low, (Sign::OutOfFunds, 502, true)),
            (429, r#"{"error":{"code":"rate_limit_exceeded"}}"#, (Sign::Failed, 429, true)),
            (500, quota, (Sign::Failed, 502, true)),
            (401, "", (Sign::Failed, 502, true)),
            (400, "", (Sign::Well, 400, false)),
            (404, "", (Sign::Well, 404, false)),
        ] {
            assert_eq!(sign(status, body), expected, "{status} {body}");
        }
    }

    #[test]
    fn every_status_has_its_meaning() {
        let body = Bytes::from_static(
            br#"{"error":{"message":"too long, key sk-12345678","code":"context_length_exceeded","param":"messages"}}"#,
        );
        let meaning = |status: u16| {
            let refusal = of_status(StatusCode::from_u16(status).unwrap_or_default(), Some(7), &body, None);
            (refusal.error.status.as_u16(), refusal.error.code.to_string(), refusal.next)
        };
        for (status, expected) in [
            (400, (400, "context_length_exceeded", false)),
            (401, (502, "upstream_auth", true)),
            (402, (502, "upstream_auth", true)),
            (403, (502, "upstream_auth", true)),
            (404, (404, "context_length_exceeded", false)),
            (408, (504, "upstream_timeout", false)),
            (413, (413, "context_length_exceeded", false)),
            (418, (502, "upstream_error", false)),
            (422, (422, "context_length_exceeded", false)),
            (429, (429, "upstream_rate_limited", true)),
            (301, (502, "upstream_error", false)),
            (500, (502, "upstream_error", true)),
            (503, (502, "upstream_error", true)),
            (504, (504, "upstream_timeout", true)),
        ] {
            assert_eq!(meaning(status), (expected.0, expected.1.to_owned(), expected.2), "{status}");
        }
        let passed = of_status(StatusCode::BAD_REQUEST, None, &body, None);
        assert!(!passed.error.openai_body().to_string().contains("sk-1234"));
    }
}
