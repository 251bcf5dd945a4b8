//! Calls to providers: one POST, its head, its body as a stream.

pub mod decode;
pub mod refusal;
pub mod scrub;

use std::pin::Pin;

use bytes::Bytes;
use futures_util::{Stream, TryStreamExt};
use http::{HeaderMap, HeaderValue, StatusCode, header};

use crate::catalog::Target;
use crate::dialect::Dialect;
use crate::life::Call;

const ANTHROPIC_VERSION: &str = "anthropic-version";
/// Headers of a caller's that mean something to the provider; no other is passed on.
const PASSED: [&str; 3] = [ANTHROPIC_VERSION, "anthropic-beta", "openai-beta"];

/// The caller's headers that go to the upstream.
#[must_use]
pub fn passed(dialect: Dialect, headers: &HeaderMap) -> HeaderMap {
    let named =
        PASSED.into_iter().flat_map(|name| headers.get_all(name).iter().map(move |value| (name, value.clone())));
    let mut passed = HeaderMap::new();
    for (name, value) in named {
        passed.append(name, value);
    }
    // A form's head holds its boundary.
    let form = headers.get(header::CONTENT_TYPE).filter(|_| dialect == Dialect::Transcriptions);
    if let Some(form) = form {
        passed.insert(header::CONTENT_TYPE, form.clone());
    }
    passed
}

/// A body's bytes as they come, already decoded.
pub type BodyStream = Pin<Box<dyn Stream<Item = std::io::Result<Bytes>> + Send>>;

/// The head of an answer and the way to its body. Dropping it closes the upstream.
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The head's fields.
    pub headers: HeaderMap,
    /// The body.
    pub body: BodyStream,
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answer").field("status", &self.status).finish_non_exhaustive()
    }
}

impl Answer {
    /// The media type without parameters, lower case.
    #[must_use]
    pub fn media_type(&self) -> String {
        let value = self.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }

    /// The media type as it was named.
    #[must_use]
    pub fn content_type(&self) -> Option<HeaderValue> {
        self.headers.get(header::CONTENT_TYPE).cloned()
    }

    /// `Retry-After` in seconds.
    #[must_use]
    pub fn retry_after_s(&self) -> Option<u64> {
        self.headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()
    }
}

/// Why no head came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// No connection: the upstream has not seen the request.
    Connect(String),
    /// Nothing came in time.
    Timeout,
    /// The connection broke after the request may have been seen.
    Broken(String),
}

/// Sends a body to a target and waits for the head.
///
/// # Errors
/// [`Failure`].
pub async fn post(target: &Target, call: &Call, body: Bytes) -> Result<Answer, Failure> {
    post_to(target, call, call.dialect_at(target).route(), body).await
}

/// Sends a body to a route of a target and waits for the head.
///
/// # Errors
/// [`Failure`].
pub async fn post_to(target: &Target, call: &Call, route: &str, body: Bytes) -> Result<Answer, Failure> {
    let (upstream, dialect) = (&target.upstream, call.dialect_at(target));
    // They mean something to a provider of the caller's dialect only.
    let passed = if dialect == call.dialect { call.passed.clone() } else { HeaderMap::new() };
    let (has_version, has_type) = (passed.contains_key(ANTHROPIC_VERSION), passed.contains_key(header::CONTENT_TYPE));
    let accept = match (call.asked.stream, dialect.answers_in_json()) {
        (true, _) => "text/event-stream",
        (false, true) => "application/json",
        (false, false) => "*/*",
    };
    let mut request = upstream
        .client
        .post(upstream.url(route))
        .headers(passed)
        .header(header::ACCEPT, accept)
        .header(header::ACCEPT_ENCODING, "identity")
        .header("x-request-id", call.context.id.to_string())
        .body(body);
    if !has_type {
        request = request.header(header::CONTENT_TYPE, "application/json");
    }
    match &upstream.key {
        Some(key) if upstream.is_anthropic => request = request.header("x-api-key", key),
        Some(key) => request = request.bearer_auth(key),
        None => {}
    }
    if dialect == Dialect::Messages && !has_version {
        request = request.header(ANTHROPIC_VERSION, "2023-06-01");
    }
    let sent = tokio::time::timeout(upstream.read_timeout, request.send()).await.map_err(|_| Failure::Timeout)?;
    let response = sent.map_err(|error| failure(error.without_url()))?;
    let (status, headers) = (response.status(), response.headers().clone());
    let raw = Box::pin(response.bytes_stream().map_err(|error| std::io::Error::other(chain(&error.without_url()))));
    let encoding = headers.get(header::CONTENT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let body = decode::decoded(raw, encoding)
        .ok_or_else(|| Failure::Broken(format!("content encoding `{encoding}` is not known")))?;
    Ok(Answer { status, headers, body })
}

fn failure(error: reqwest::Error) -> Failure {
    if error.is_connect() {
        Failure::Connect(chain(&error))
    } else if error.is_timeout() {
        Failure::Timeout
    } else {
        Failure::Broken(chain(&error))
    }
}

/// An error with its causes, which `Display` alone leaves out.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        text.push_str(": ");
        text.push_str(&next.to_string());
        cause = next.source();
    }
    text
}
