//! One call: who makes it, from where, under which id.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{ConnectInfo, FromRequestParts, MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::request::Parts;
use http::{HeaderMap, HeaderValue};
use ipnet::IpNet;
use tracing::Instrument as _;

use crate::app::App;
use crate::error::{Error, Result};

/// What is known of a call before anything is asked of the database.
#[derive(Debug, Clone)]
pub struct Meta {
    /// The call's id: header `X-Request-Id`, log, audit and problem documents.
    pub request_id: String,
    /// The client's address.
    pub address: String,
    /// The client as it calls itself, at most 200 characters.
    pub agent: String,
    /// Method and path.
    pub operation: Arc<str>,
}

impl<S: Send + Sync> FromRequestParts<S> for Meta {
    type Rejection = Error;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        parts.extensions.get::<Self>().cloned().ok_or_else(|| Error::internal("a call without its layer"))
    }
}

/// Middleware around everything: id, span, one log line and metrics per call.
pub async fn observe(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let began = Instant::now();
    let meta = Meta {
        request_id: uuid::Uuid::now_v7().simple().to_string(),
        address: client_address(&request, &app.config().trusted_proxies)
            .map_or_else(|| "unknown".to_owned(), |ip| ip.to_string()),
        agent: header_text(request.headers(), "user-agent").chars().take(200).collect(),
        operation: format!("{} {}", request.method(), request.uri().path()).into(),
    };
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let method = request.method().to_string();
    let span = tracing::info_span!("call", request_id = %meta.request_id, operation = %meta.operation, address = %meta.address);
    let header = HeaderValue::from_str(&meta.request_id);
    request.extensions_mut().insert(meta);
    let mut response = next.run(request).instrument(span.clone()).await;
    if let Ok(value) = header {
        response.headers_mut().insert("x-request-id", value);
    }
    let (status, took) = (response.status().as_u16(), began.elapsed());
    span.in_scope(|| {
        tracing::debug!(status, took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX), "answered")
    });
    let labels = [("method", method), ("route", route), ("status", status.to_string())];
    metrics::counter!("tollgate_admin_calls_total", &labels).increment(1);
    metrics::histogram!("tollgate_admin_call_seconds", &labels[..2]).record(took.as_secs_f64());
    response
}

/// The address of the client: the last hop of `X-Forwarded-For` that no trusted proxy added, else the peer's own.
fn client_address(request: &Request, trusted: &[IpNet]) -> Option<IpAddr> {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>()?.0.ip().to_canonical();
    let is_trusted = |ip: &IpAddr| trusted.iter().any(|net| net.contains(ip));
    if !is_trusted(&peer) {
        return Some(peer);
    }
    let forwarded = header_text(request.headers(), "x-forwarded-for");
    let hops = forwarded.rsplit(',').map_while(|hop| hop.trim().parse::<IpAddr>().ok()).map(|ip| ip.to_canonical());
    let mut last = peer;
    for hop in hops {
        last = hop;
        if !is_trusted(&hop) {
            break;
        }
    }
    Some(last)
}

/// The text of a header; empty where it is absent or no text.
pub fn header_text<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(peer: &str, forwarded: &str) -> String {
        let mut request = Request::new(axum::body::Body::empty());
        request.extensions_mut().insert(ConnectInfo::<SocketAddr>(format!("{peer}:1").parse().unwrap()));
        request.headers_mut().insert("x-forwarded-for", forwarded.parse().unwrap());
        client_address(&request, &["10.0.0.0/8".parse().unwrap()]).unwrap().to_string()
    }

    #[test]
    fn only_trusted_proxies_are_believed() {
        assert_eq!(address("192.0.2.1", "198.51.100.7"), "192.0.2.1");
        assert_eq!(address("10.0.0.1", "198.51.100.7"), "198.51.100.7");
        assert_eq!(address("10.0.0.1", "1.1.1.1, 198.51.100.7, 10.0.0.2"), "198.51.100.7");
        assert_eq!(address("10.0.0.1", "nonsense"), "10.0.0.1");
        assert_eq!(address("10.0.0.1", "1.1.1.1, nonsense, 10.0.0.9"), "10.0.0.9");
    }
}
