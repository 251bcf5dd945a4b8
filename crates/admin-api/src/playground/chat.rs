//! `POST /playground/chat`.

use std::io;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use domain::api_key::{KeyKind, KeyText};
use http::header::{self, HeaderName};
use http::{HeaderValue, StatusCode};
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout, timeout_at};

use crate::auth::policy::AnyPerson;
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::{Error, Result};

/// The answer's head has to come within this.
const HEAD_WITHIN: Duration = Duration::from_secs(25);
/// The whole answer has to come within this.
const WITHIN: Duration = Duration::from_secs(600);
/// Of an answer so many bytes are passed on at most.
const ANSWER_BYTES: usize = 16 * 1024 * 1024;
/// Of a refusal so many bytes are read at most.
const REFUSAL_BYTES: usize = 64 * 1024;

/// Sends an OpenAI chat to the gateway with the API key in `key`, and streams its answer back, so that the console's page
/// needs no other origin. The key pays as for any call, and is neither kept nor logged. What the gateway refuses is a problem
/// `gateway_refused`, with its own body in `gateway`. An answer ends after 10 minutes or 16 MiB.
#[utoipa::path(post, path = "/playground/chat", operation_id = "playground_chat", tag = "playground",
    request_body(content = Object, description = "An OpenAI chat, and `key`: the API key that pays."),
    responses((status = 200, description = "The gateway's answer: JSON, or server-sent events.")))]
pub async fn handler(
    call: Call<AnyPerson>,
    Json { value: mut body, .. }: Json<Map<String, Value>>,
) -> Result<Response> {
    let key = key(body.remove("key"))?;
    let config = call.app.config();
    let Some(gateway) = config.gateway_internal_url.clone().or_else(|| config.gateway_url.clone()) else {
        return Err(Error::unavailable("the admin API does not know the gateway: set TOLLGATE_GATEWAY_URL"));
    };
    let model = body.get("model").and_then(Value::as_str);
    let model = model.map(|model| model.chars().filter(|c| !c.is_control()).take(200).collect::<String>());
    let said = serde_json::json!({ "key": key.shown(), "model": model });
    // The gateway may take its time: no transaction waits for it.
    call.commit(Audit::new("playground.chat", "playground").after(&said)).await?;
    // Straight to the gateway that is configured: no proxy of the environment, no redirect.
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy();
    let client = client.connect_timeout(Duration::from_secs(5)).build().map_err(Error::internal)?;
    let deadline = Instant::now() + WITHIN;
    let request = client.post(format!("{gateway}/v1/chat/completions")).bearer_auth(key.expose()).json(&body);
    match timeout(HEAD_WITHIN, request.send()).await {
        Ok(Ok(answer)) if answer.status().is_success() => Ok(passed(answer, deadline)),
        Ok(Ok(answer)) => Err(refused(answer).await),
        Ok(Err(cause)) => {
            tracing::warn!(cause = %cause.without_url(), "the gateway could not be asked");
            Err(Error::unavailable("the gateway can't be reached at the moment; try again"))
        }
        Err(_) => Err(Error::unavailable("the gateway did not begin to answer in time; ask for a stream")),
    }
}

fn key(value: Option<Value>) -> Result<KeyText> {
    match value {
        Some(Value::String(text)) => KeyText::parse(KeyKind::Api, text.trim())
            .map_err(|_| Error::field("key", "invalid", "must be an API key such as tg_live_...")),
        Some(_) => Err(Error::field("key", "invalid_type", "must be the API key as a string")),
        None => Err(Error::field("key", "required", "give the API key that pays")),
    }
}

/// The answer as it comes. Whoever leaves the page drops it, which ends the call at the gateway.
fn passed(answer: reqwest::Response, deadline: Instant) -> Response {
    let content_type = answer.headers().get(header::CONTENT_TYPE).cloned();
    let request_id = answer.headers().get("x-request-id").cloned();
    let stream = futures_util::stream::try_unfold((answer, 0_usize), move |(mut answer, seen)| async move {
        let next = timeout_at(deadline, answer.chunk()).await;
        let chunk = next.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?.map_err(io::Error::other)?;
        let Some(chunk) = chunk else { return Ok(None) };
        let seen = seen.saturating_add(chunk.len());
        if seen > ANSWER_BYTES {
            return Err(io::Error::other("the answer is longer than is passed on"));
        }
        Ok(Some((chunk, (answer, seen))))
    });
    let mut response = Response::new(Body::from_stream(stream));
    let headers = response.headers_mut();
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    let passed = [(header::CONTENT_TYPE, content_type), (HeaderName::from_static("x-gateway-request-id"), request_id)];
    headers.extend(passed.into_iter().filter_map(|(name, value)| Some((name, value?))));
    response
}

/// What the gateway said, as a problem. Its 401 is about the key, not about the person's session.
async fn refused(mut answer: reqwest::Response) -> Error {
    let status = match answer.status() {
        StatusCode::UNAUTHORIZED => StatusCode::UNPROCESSABLE_ENTITY,
        status if status.is_client_error() || status.is_server_error() => status,
        _ => StatusCode::BAD_GATEWAY,
    };
    let mut bytes = Vec::new();
    let deadline = Instant::now() + Duration::from_secs(2);
    while let Ok(Ok(Some(chunk))) = timeout_at(deadline, answer.chunk()).await {
        let left = REFUSAL_BYTES.saturating_sub(bytes.len());
        bytes.extend_from_slice(chunk.get(..left).unwrap_or(&chunk));
        if bytes.len() >= REFUSAL_BYTES {
            break;
        }
    }
    let body: Value =
        serde_json::from_slice(&bytes).unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).into_owned()));
    let said =
        body.pointer("/error/message").and_then(Value::as_str).unwrap_or("the gateway refused the call").to_owned();
    Error::new(status, "gateway_refused", said).with("gateway", body)
}
