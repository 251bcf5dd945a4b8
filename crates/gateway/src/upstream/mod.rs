//! Calls to providers: one POST, its head, its body as a stream.

pub mod decode;
pub mod refusal;
pub mod scrub;

use std::pin::Pin;

use bytes::Bytes;
use domain::RequestId;
use futures_util::{Stream, TryStreamExt};
use http::{HeaderMap, StatusCode, header};

use crate::catalog::Target;

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

/// Sends a JSON body to a route of a target and waits for the head.
///
/// # Errors
/// [`Failure`].
pub async fn post(target: &Target, route: &str, body: String, stream: bool, id: RequestId) -> Result<Answer, Failure> {
    let upstream = &target.upstream;
    let mut request = upstream
        .client
        .post(upstream.url(route))
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, if stream { "text/event-stream" } else { "application/json" })
        .header(header::ACCEPT_ENCODING, "identity")
        .header("x-request-id", id.to_string())
        .body(body);
    if let Some(key) = &upstream.key {
        request = request.bearer_auth(key);
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
