//! A caller's `Idempotency-Key`: the same call again gets what the first one came to, and is charged once.
//!
//! A small whole reply is kept, sealed, and given again. Of a stream, or a larger reply, only the request and its charge can
//! be told. A call that came to nothing leaves its key free.

use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use sha2::{Digest, Sha256};
use store::idempotent_calls as calls;

use crate::app::App;
use crate::dialect::Dialect;
use crate::error::{ApiError, set};
use crate::keys::Caller;
use crate::life::{Call, Reply};
use crate::request_context::RequestContext;

/// Longest key.
const NAME_MAX: usize = 255;
/// Larger replies are not kept.
const KEPT_MAX: usize = 256 * 1024;
/// Postgres is waited for that long, and no longer.
const WITHIN: Duration = Duration::from_secs(3);

/// What a key and its call are known by.
#[derive(Debug, Clone, Copy)]
pub struct Once {
    name: [u8; 32],
    body: [u8; 32],
}

/// What the claim came to.
pub enum Begun {
    /// The call is to be run.
    Run,
    /// It was made before.
    Replay(Box<First>),
}

/// The kept reply of the first call.
pub struct First {
    request_id: domain::RequestId,
    status: u16,
    content_type: String,
    body: Bytes,
}

impl Once {
    /// The key of a request, if it has one.
    ///
    /// # Errors
    /// It is empty, too long or no plain text.
    pub fn read(
        app: &App,
        caller: &Caller,
        context: &RequestContext,
        dialect: Dialect,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Result<Option<Self>, ApiError> {
        let Some(name) = headers.get("idempotency-key").filter(|_| app.config.idempotency_keys) else {
            return Ok(None);
        };
        let is_plain = name.as_bytes().iter().all(u8::is_ascii_graphic);
        if name.is_empty() || name.len() > NAME_MAX || !is_plain {
            return Err(ApiError::bad_header("Idempotency-Key", "must be 1 to 255 visible ASCII characters"));
        }
        tracing::debug!(request_id = %context.id, key = %caller.context.key_id, "a call with an Idempotency-Key");
        let body = Sha256::new().chain_update(dialect.route()).chain_update([0]).chain_update(body).finalize();
        Ok(Some(Self { name: Sha256::digest(name.as_bytes()).into(), body: body.into() }))
    }

    fn call<'a>(&'a self, call: &'a Call) -> calls::Call<'a> {
        calls::Call {
            key_id: call.caller.context.key_id,
            name_hash: &self.name,
            body_hash: &self.body,
            request_id: call.context.id,
            gateway_id: &call.app.gateway_id,
        }
    }
}

/// Claims the call's key, or finds what the first call came to.
///
/// # Errors
/// It still runs, it is over without a kept reply, the key stands for another call, or Postgres can't be asked.
pub async fn begin(call: &Call) -> Result<Begun, ApiError> {
    let Some(once) = &call.once else { return Ok(Begun::Run) };
    let asked = tokio::time::timeout(WITHIN, async {
        let mut connection = call.app.store.acquire().await?;
        calls::begin(&mut connection, once.call(call)).await
    });
    let begun = match asked.await {
        Ok(Ok(begun)) => begun,
        Ok(Err(error)) => return Err(unavailable(call, &error)),
        Err(late) => return Err(unavailable(call, &late)),
    };
    match begun {
        calls::Begun::New => Ok(Begun::Run),
        calls::Begun::Running => Err(ApiError::idempotency_running()),
        calls::Begun::Mismatch => Err(ApiError::idempotency_mismatch()),
        calls::Begun::Done { request_id, charge } => {
            Err(ApiError::already_done(request_id, charge, call.caller.context.unit))
        }
        calls::Begun::Replay { request_id, status, content_type, sealed } => {
            let opened = call.app.sealer.open_bytes(&request_id.to_string(), &sealed);
            let body = opened.map_err(|error| unavailable(call, &error))?.into();
            Ok(Begun::Replay(Box::new(First { request_id, status, content_type, body })))
        }
    }
}

fn unavailable(call: &Call, error: &dyn std::error::Error) -> ApiError {
    tracing::error!(request_id = %call.context.id, %error, "an Idempotency-Key could not be looked up");
    ApiError::ledger_unavailable()
}

/// Gives the first call's reply again: nothing is frozen, nothing charged.
pub fn replay(call: &Call, first: First, reply: Reply) {
    let (of, context) = (&call.caller.context, &call.context);
    tracing::info!(
        request_id = %context.id, client_request_id = context.client_id, tenant = %of.tenant_id, project = %of.project_id, key = %of.key_id,
        model = call.asked.model, status = first.status, first_request_id = %first.request_id, ended = "replayed", ms = context.elapsed_ms(), "request"
    );
    metrics::counter!("tollgate_gateway_calls_total", "ended" => "replayed", "status" => first.status.to_string())
        .increment(1);
    let mut response = Response::new(Body::from(first.body));
    *response.status_mut() = StatusCode::from_u16(first.status).unwrap_or(StatusCode::OK);
    let headers = response.headers_mut();
    if let Ok(content_type) = HeaderValue::from_str(&first.content_type) {
        headers.insert(header::CONTENT_TYPE, content_type);
    }
    set(headers, "idempotent-replayed", "true");
    set(headers, "x-tollgate-first-request-id", &first.request_id.to_string());
    let _ = reply.send(response);
}

/// Keeps a reply that is small enough, before the client has it: a retry finds it from then on. Where that fails, the retry
/// is told that the call is over.
pub async fn keep(call: &Call, status: StatusCode, content_type: &str, body: &[u8]) {
    let Some(once) = call.once.as_ref().filter(|_| body.len() <= KEPT_MAX) else { return };
    let kept = async {
        let sealed = call.app.sealer.seal_bytes(&call.context.id.to_string(), body)?;
        let mut connection = call.app.store.acquire().await?;
        calls::keep(&mut connection, once.call(call), status.as_u16(), content_type, &sealed).await
    };
    match tokio::time::timeout(WITHIN, kept).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(request_id = %call.context.id, %error, "a reply could not be kept"),
        Err(_) => tracing::warn!(request_id = %call.context.id, "a reply could not be kept in time"),
    }
}

/// Lets the call's key go, in the background: the call came to nothing. Where that fails, its roll back says so.
pub fn let_go(call: &Call) {
    let Some(once) = call.once else { return };
    let (store, key_id, request_id) = (call.app.store.clone(), call.caller.context.key_id, call.context.id);
    let gateway_id = call.app.gateway_id.clone();
    call.app.calls.spawn(async move {
        let let_go = async {
            let mut connection = store.acquire().await?;
            let call = calls::Call {
                key_id,
                name_hash: &once.name,
                body_hash: &once.body,
                request_id,
                gateway_id: &gateway_id,
            };
            calls::let_go(&mut connection, call).await
        };
        if let Ok(Err(error)) = tokio::time::timeout(WITHIN, let_go).await {
            tracing::warn!(%request_id, %error, "an Idempotency-Key could not be let go");
        }
    });
}
