//! Who calls: an extractor, so that a handler that forgets it has no caller and no quota to spend.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::response::Response;
use domain::Level;
use domain::api_key::{KeyKind, KeyText};
use http::HeaderMap;
use http::request::Parts;

use crate::address;
use crate::app::App;
use crate::error::ApiError;
use crate::keys::Caller;
use crate::request_context::RequestContext;

/// A caller with a valid key, and the request's context.
pub struct Authenticated {
    /// Whose key it is.
    pub caller: Arc<Caller>,
    /// The request.
    pub context: RequestContext,
}

impl FromRequestParts<Arc<App>> for Authenticated {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Response> {
        // The layer that makes the context stands before every route.
        let Some(context) = parts.extensions.get::<RequestContext>().cloned() else {
            return Err(axum::response::IntoResponse::into_response(http::StatusCode::INTERNAL_SERVER_ERROR));
        };
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0);
        match authenticate(&parts.headers, peer, app, &context).await {
            Ok(caller) => Ok(Self { caller, context }),
            Err(error) => Err(error.to_response(&context)),
        }
    }
}

async fn authenticate(
    headers: &HeaderMap,
    peer: Option<SocketAddr>,
    app: &App,
    context: &RequestContext,
) -> Result<Arc<Caller>, ApiError> {
    let text = key_text(headers).ok_or_else(|| ApiError::invalid_api_key("You did not provide an API key."))?;
    // The checksum first: a mistyped or made-up key costs no look-up.
    let key = KeyText::parse(KeyKind::Api, text).map_err(|_| ApiError::invalid_api_key("The API key is not valid."))?;
    let found = app.keys.find(&key.hash(&app.secret)).await.map_err(|error| {
        tracing::error!(request_id = %context.id, %error, "a key could not be looked up");
        ApiError::ledger_unavailable()
    })?;
    let caller = found.ok_or_else(|| ApiError::invalid_api_key("The API key is not valid."))?;
    let of = &caller.context;
    if of.key_status != "active" || of.project_status != "active" || caller.is_expired(context.started_at) {
        return Err(ApiError::invalid_api_key("The API key is disabled or has expired."));
    }
    let address = peer.map(|peer| address::of_caller(peer, headers, &app.trusted_proxies));
    if address.is_some_and(|address| !caller.may_call_from(address)) {
        return Err(ApiError::address_not_allowed());
    }
    if of.tenant_status != "active" {
        return Err(ApiError::suspended(Level::Tenant, &of.tenant_status));
    }
    Ok(caller)
}

/// The key as the OpenAI SDKs send it, or as Anthropic's do.
fn key_text(headers: &HeaderMap) -> Option<&str> {
    let bearer = headers.get(http::header::AUTHORIZATION).and_then(|value| value.to_str().ok()).and_then(|value| {
        let (scheme, key) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
    });
    bearer.or_else(|| headers.get("x-api-key").and_then(|value| value.to_str().ok())).filter(|key| !key.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn a_key_is_read_from_either_header() {
        let read = |pairs: &[(&'static str, &'static str)]| {
            let headers: HeaderMap = pairs
                .iter()
                .map(|(name, value)| (http::HeaderName::from_static(name), HeaderValue::from_static(value)))
                .collect();
            key_text(&headers).map(str::to_owned)
        };
        assert_eq!(read(&[("authorization", "Bearer k")]).as_deref(), Some("k"));
        assert_eq!(read(&[("authorization", "bearer  k ")]).as_deref(), Some("k"));
        assert_eq!(read(&[("x-api-key", "k")]).as_deref(), Some("k"));
        assert_eq!(read(&[("authorization", "Basic k"), ("x-api-key", "j")]).as_deref(), Some("j"));
        assert_eq!(read(&[("authorization", "Bearer ")]), None);
        assert_eq!(read(&[]), None);
    }
}
