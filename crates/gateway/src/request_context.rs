//! What is known of a request before anything of it is read: its id, its start. And one log line when it ends.

use std::time::Instant;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use domain::RequestId;
use http::HeaderMap;
use jiff::Timestamp;

use crate::error::{ErrorCode, set};

/// Longest id of a client's own that is kept.
const CLIENT_ID_MAX: usize = 128;

/// The form of errors on a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// As OpenAI writes them.
    OpenAi,
    /// As Anthropic writes them.
    Anthropic,
}

/// Made for each request.
#[derive(Debug, Clone)]
pub struct RequestContext {
    /// The request's id, never used twice.
    pub id: RequestId,
    /// What the client calls it (`x-request-id`).
    pub client_id: Option<String>,
    /// The form of its errors.
    pub shape: Shape,
    /// By a clock that never jumps.
    pub began: Instant,
    /// By the calendar.
    pub started_at: Timestamp,
}

impl RequestContext {
    /// Begins a request.
    #[must_use]
    pub fn new(path: &str, headers: &HeaderMap) -> Self {
        let client_id = headers.get("x-request-id").and_then(|value| value.to_str().ok());
        Self {
            id: RequestId::generate(),
            shape: if path.starts_with("/v1/messages") { Shape::Anthropic } else { Shape::OpenAi },
            client_id: client_id.filter(|id| !id.is_empty() && id.len() <= CLIENT_ID_MAX).map(str::to_owned),
            began: Instant::now(),
            started_at: Timestamp::now(),
        }
    }

    /// Milliseconds since it began.
    #[must_use]
    pub fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// Marks a reply whose log line is written when its stream and its accounting have ended.
#[derive(Debug, Clone, Copy)]
pub struct LoggedAtEnd;

/// Gives each request its context, each reply its `x-request-id`, and writes the log line of requests that end with their reply.
pub async fn layer(mut request: Request, next: Next) -> Response {
    let context = RequestContext::new(request.uri().path(), request.headers());
    request.extensions_mut().insert(context.clone());
    let method = request.method().clone();
    let route = request
        .extensions()
        .get::<axum::extract::MatchedPath>()
        .map_or_else(|| "none".to_owned(), |path| path.as_str().to_owned());
    let mut response = next.run(request).await;
    set(response.headers_mut(), "x-request-id", &context.id.to_string());
    if response.extensions().get::<LoggedAtEnd>().is_some() {
        return response;
    }
    let status = response.status().as_u16();
    let code = response.extensions().get::<ErrorCode>().map(|code| code.0.clone());
    let counted_code = code.clone().filter(|code| matches!(code, std::borrow::Cow::Borrowed(_))).unwrap_or_default();
    metrics::counter!("tollgate_gateway_requests_total", "route" => route.clone(), "status" => status.to_string(), "code" => counted_code).increment(1);
    if !matches!(route.as_str(), "/healthz" | "/readyz") {
        let (method, id, ms) = (method.as_str(), context.id, context.elapsed_ms());
        tracing::info!(request_id = %id, client_request_id = context.client_id, method, route, status, code = code.as_deref(), ms, "request");
    }
    response
}
