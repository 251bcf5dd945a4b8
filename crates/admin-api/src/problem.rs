//! Writes every failure as an RFC 9457 problem document, also those that no handler of ours answered.

use api_types::Problem;
use axum::body::Body;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http::{HeaderValue, StatusCode, header};

use crate::call::Meta;
use crate::error::Error;

/// Media type of problem documents.
pub const MEDIA_TYPE: &str = "application/problem+json";

/// Middleware around the API: failures leave as problem documents.
pub async fn finish(request: Request, next: Next) -> Response {
    let request_id = request.extensions().get::<Meta>().map(|meta| meta.request_id.clone()).unwrap_or_default();
    let mut response = next.run(request).await;
    let error = match response.extensions_mut().remove::<Error>() {
        Some(error) => error,
        None if response.status().is_client_error() || response.status().is_server_error() => {
            of_status(response.status())
        }
        None => return response,
    };
    let (mut parts, _) = response.into_parts();
    parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
    parts.headers.remove(header::CONTENT_LENGTH);
    let body = serde_json::to_vec(&document(&error, request_id)).unwrap_or_default();
    Response::from_parts(parts, Body::from(body))
}

fn document(error: &Error, request_id: String) -> Problem {
    let parts = error.parts();
    Problem {
        r#type: format!("urn:tollgate:problem:{}", parts.code),
        title: parts.status.canonical_reason().unwrap_or("Error").to_owned(),
        status: parts.status.as_u16(),
        code: parts.code.to_owned(),
        detail: parts.detail.clone(),
        request_id,
        errors: parts.errors.clone(),
        more: parts.more.clone(),
    }
}

/// Failures that axum or a layer answered.
fn of_status(status: StatusCode) -> Error {
    match status {
        StatusCode::NOT_FOUND => Error::not_found(),
        StatusCode::METHOD_NOT_ALLOWED => Error::new(
            status,
            "method_not_allowed",
            "this path does not take this method; the header Allow names those it takes",
        ),
        StatusCode::PAYLOAD_TOO_LARGE => Error::new(status, "too_large", "the body is larger than 1 MiB"),
        StatusCode::REQUEST_TIMEOUT => Error::new(status, "timeout", "the call took too long and was ended"),
        status if status.is_server_error() => {
            Error::new(status, "internal", "something went wrong here; the log has the cause")
        }
        status => Error::new(status, "bad_request", "the request could not be understood"),
    }
}
