//! JSON bodies: one media type, a limit, unknown fields refused, each failure named by its field.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{StatusCode, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use api_types::FieldError;

use crate::error::{Error, Result};

/// Bytes of a body at most.
pub const LIMIT: usize = 1 << 20;
const READ_WITHIN: Duration = Duration::from_secs(10);

/// Middleware: reads the whole body before any handler runs, so that a slow client never holds a transaction open.
pub async fn buffer(request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let read = tokio::time::timeout(READ_WITHIN, Limited::new(body, LIMIT).collect()).await;
    let bytes = match read {
        Ok(Ok(collected)) => collected.to_bytes(),
        Ok(Err(error)) if error.is::<LengthLimitError>() => return StatusCode::PAYLOAD_TOO_LARGE.into_response(),
        Ok(Err(_)) => return StatusCode::BAD_REQUEST.into_response(),
        Err(_) => return StatusCode::REQUEST_TIMEOUT.into_response(),
    };
    next.run(Request::from_parts(parts, axum::body::Body::from(bytes))).await
}

/// A JSON body of type `T`.
#[derive(Debug)]
pub struct Json<T> {
    /// What it says.
    pub value: T,
    /// SHA-256 of its bytes, for idempotency.
    pub hash: [u8; 32],
}

impl<S: Send + Sync, T: DeserializeOwned + Serialize> FromRequest<S> for Json<T> {
    type Rejection = Error;
    async fn from_request(request: Request, state: &S) -> Result<Self> {
        if !is_json(request.headers().get(header::CONTENT_TYPE)) {
            return Err(Error::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "unsupported_media_type",
                "send JSON, with the header Content-Type: application/json",
            ));
        }
        let bytes = Bytes::from_request(request, state).await.map_err(Error::internal)?;
        Ok(Self { value: parse(&bytes)?, hash: Sha256::digest(&bytes).into() })
    }
}

fn is_json(value: Option<&http::HeaderValue>) -> bool {
    let text = value.and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut parts = text.split(';').map(str::trim);
    let media = parts.next().unwrap_or_default();
    media.eq_ignore_ascii_case("application/json")
        && parts.all(|part| part.is_empty() || part.eq_ignore_ascii_case("charset=utf-8"))
}

fn parse<T: DeserializeOwned + Serialize>(bytes: &[u8]) -> Result<T> {
    let reader = &mut serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut *reader).map_err(|error| {
        let path = error.path().to_string();
        let cause = error.into_inner();
        if cause.is_data() { Error::fields(vec![field_error(&path, &cause.to_string())]) } else { invalid_json(&cause) }
    })?;
    reader.end().map_err(|cause| invalid_json(&cause))?;
    // serde reads an array as a struct, field by field: what is written must have the shape of what was read.
    let written: Value = serde_json::from_slice(bytes).map_err(|cause| invalid_json(&cause))?;
    let read = serde_json::to_value(&value).map_err(Error::internal)?;
    match array_for_object(&written, &read, "") {
        Some(field) => Err(Error::field(&field, "invalid_type", "must be a JSON object")),
        None => Ok(value),
    }
}

/// The path of the first array that was read as an object.
fn array_for_object(written: &Value, read: &Value, path: &str) -> Option<String> {
    match (written, read) {
        (Value::Array(_), Value::Object(_)) => Some(if path.is_empty() { "body".to_owned() } else { path.to_owned() }),
        (Value::Array(written), Value::Array(read)) => {
            let mut pairs = written.iter().zip(read).enumerate();
            pairs.find_map(|(index, (written, read))| array_for_object(written, read, &format!("{path}[{index}]")))
        }
        (Value::Object(written), Value::Object(read)) => {
            written.iter().find_map(|(name, written)| array_for_object(written, read.get(name)?, &join(path, name)))
        }
        _ => None,
    }
}

fn invalid_json(cause: &serde_json::Error) -> Error {
    Error::new(StatusCode::BAD_REQUEST, "invalid_json", format!("the body is not valid JSON: {cause}"))
}

/// Turns serde's message into a field, a stable code and words for people.
fn field_error(path: &str, message: &str) -> FieldError {
    let message = message.split(" at line ").next().unwrap_or(message);
    let path = if path == "." { "" } else { path };
    let quoted = |prefix: &str| message.strip_prefix(prefix).and_then(|rest| rest.split('`').next());
    let (field, code) = if let Some(name) = quoted("missing field `") {
        (join(path, name), "required")
    } else if let Some(name) = quoted("unknown field `") {
        let parent = path.strip_suffix(name).map_or(path, |parent| parent.trim_end_matches('.'));
        (join(parent, name), "unknown_field")
    } else if let Some(name) = quoted("duplicate field `") {
        (join(path, name), "duplicate_field")
    } else if message == api_types::decimal::NUMBER_REFUSED {
        (path.to_owned(), "not_a_string")
    } else if message.starts_with("invalid type") || message.starts_with("invalid length") {
        (path.to_owned(), "invalid_type")
    } else {
        (path.to_owned(), "invalid")
    };
    let field = if field.is_empty() { "body".to_owned() } else { field };
    FieldError { field, code: code.to_owned(), message: message.to_owned() }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use api_types::tenant::CreateTenant;

    fn refused(text: &str) -> (u16, String, String) {
        let error = parse::<CreateTenant>(text.as_bytes()).unwrap_err();
        let parts = error.parts();
        let first = parts.errors.first();
        let (field, code) =
            first.map_or((String::new(), parts.code.to_owned()), |error| (error.field.clone(), error.code.clone()));
        (parts.status.as_u16(), field, code)
    }

    #[test]
    fn each_failure_names_its_field() {
        for (text, status, field, code) in [
            ("", 400, "", "invalid_json"),
            ("{", 400, "", "invalid_json"),
            (r#"{"name":"a"} x"#, 400, "", "invalid_json"),
            ("[]", 422, "body", "invalid_type"),
            (r#"["a",null,"credit","UTC",{"kind":"month"},null,null]"#, 422, "body", "invalid_type"),
            (r#"{"name":"a","plan":["5"]}"#, 422, "plan", "invalid_type"),
            (r#"{"name":"a","period":["month",1]}"#, 422, "period", "invalid_type"),
            (r#""x""#, 422, "body", "invalid_type"),
            ("{}", 422, "name", "required"),
            (r#"{"name":7}"#, 422, "name", "invalid_type"),
            (r#"{"name":"a","nam":1}"#, 422, "nam", "unknown_field"),
            (r#"{"name":"a","name":"b"}"#, 422, "name", "duplicate_field"),
            (r#"{"name":"a","unit":"euro"}"#, 422, "unit", "invalid"),
            (r#"{"name":"a","plan":{"amount":12.5}}"#, 422, "plan.amount", "not_a_string"),
            (r#"{"name":"a","plan":{"amount":12}}"#, 422, "plan.amount", "not_a_string"),
            (r#"{"name":"a","plan":{"amount":"1e3"}}"#, 422, "plan.amount", "invalid"),
            (r#"{"name":"a","plan":{"amount":"1","x":1}}"#, 422, "plan.x", "unknown_field"),
            (r#"{"name":"a","plan":{}}"#, 422, "plan.amount", "required"),
            (r#"{"name":"a","plan":{"amount":"1","renews_at":"soon"}}"#, 422, "plan.renews_at", "invalid"),
        ] {
            assert_eq!(refused(text), (status, field.to_owned(), code.to_owned()), "{text}");
        }
    }

    #[test]
    fn only_json_is_json() {
        let is = |text: &str| is_json(Some(&text.parse().unwrap()));
        assert!(is("application/json") && is("Application/JSON; charset=UTF-8"));
        assert!(
            !is("text/plain") && !is("application/x-www-form-urlencoded") && !is("application/json; charset=latin1")
        );
        assert!(!is_json(None));
    }
}
