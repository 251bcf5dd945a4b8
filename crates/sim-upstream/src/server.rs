//! Accepts connections and answers requests.

use std::{convert::Infallible, fmt::Write as _, io, sync::Arc, time::Instant};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Limited};
use hyper::{
    HeaderMap, Method, Request, Response,
    body::Incoming,
    header::{self, HeaderName, HeaderValue},
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use time::OffsetDateTime;
use tokio::net::TcpListener;

use crate::{
    Config, Sim,
    ask::{Dialect, Refusal},
    book::{Book, Ending, Facts, Serving},
    control,
    plan::{Plan, Route, plan},
    playback::{Playback, blocks, pass},
    reel::End,
    script::Packing,
    wire::{Kill, Wire},
};

/// Largest request body, in bytes.
const MAX_BODY: usize = 128 * 1024 * 1024;
/// Bodies above this size are counted on a thread of their own.
const LARGE_BODY: usize = 64 * 1024;
/// Bodies up to this size are kept in the ledger.
const KEPT_BODY: usize = 4 * 1024;

/// Accepts and serves until the future is dropped. Returns only where accepting fails for good.
pub(crate) async fn run(listener: TcpListener, sim: Sim) -> io::Result<()> {
    let mut http = hyper::server::conn::http1::Builder::new();
    http.header_read_timeout(None);
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of descriptors, or a caller that went away while it waited: the next accept may work.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
                continue;
            }
        };
        stream.set_nodelay(true)?;
        let kill = Arc::new(Kill::default());
        let wire = Wire { stream, kill: Arc::clone(&kill) };
        let (http, sim) = (http.clone(), sim.clone());
        tokio::spawn(async move {
            let service = service_fn(|request| answer(&sim, &kill, request));
            let connection = http.serve_connection(TokioIo::new(wire), service);
            tokio::select! {
                ended = connection => if let Err(error) = ended { tracing::debug!(%error, "a connection broke") },
                () = kill.told() => {}
            }
        });
    }
}

type Answer = Response<Reply>;

/// A response body: played, or one of the program's own.
pub(crate) type Reply = http_body_util::Either<Playback, http_body_util::Full<Bytes>>;

async fn answer(sim: &Sim, kill: &Arc<Kill>, request: Request<Incoming>) -> Result<Answer, Infallible> {
    let arrived = Instant::now();
    let path = request.uri().path();
    if let Some(rest) = path.strip_prefix("/sim/") {
        return Ok(control::answer(sim.book(), request.method(), rest, request.uri().query()));
    }
    let route = Route::of(path);
    let dialect = route.map_or(Dialect::OpenAi, Route::dialect);
    if let Err(refusal) = authorise(sim.config(), dialect, request.headers()) {
        return Ok(refuse(sim, kill, request, dialect, &refusal, arrived));
    }
    match (route, request.method()) {
        (Some(route), &Method::POST) => Ok(serve(sim, kill, route, request, arrived).await),
        (_, &Method::GET) if path == "/v1/models" || path.starts_with("/v1/models/") => {
            Ok(control::models(&sim.config().models, path))
        }
        _ => {
            let message = format!("invalid URL ({} {path})", request.method());
            Ok(refuse(sim, kill, request, dialect, &Refusal { status: 404, message }, arrived))
        }
    }
}

fn refuse(
    sim: &Sim,
    kill: &Arc<Kill>,
    request: Request<Incoming>,
    dialect: Dialect,
    refusal: &Refusal,
    arrived: Instant,
) -> Answer {
    let (parts, _) = request.into_parts();
    let id = sim.book().next_id();
    let plan = Plan::refusal(dialect, refusal);
    let serving = begin(sim.book(), id, &parts, &plan, None, arrived);
    response(sim.book(), kill, plan, id, serving)
}

fn authorise(config: &Config, dialect: Dialect, headers: &HeaderMap) -> Result<(), Refusal> {
    if let Some(key) = &config.api_key {
        let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        let given = bearer.or_else(|| headers.get("x-api-key").and_then(|value| value.to_str().ok()));
        if given != Some(key) {
            let message = "incorrect API key provided; the simulated provider was started with another --api-key";
            return Err(Refusal { status: 401, message: message.to_owned() });
        }
    }
    if dialect == Dialect::Anthropic && !headers.contains_key("anthropic-version") {
        return Err(Refusal::bad("anthropic-version: header is required"));
    }
    Ok(())
}

async fn serve(sim: &Sim, kill: &Arc<Kill>, route: Route, request: Request<Incoming>, arrived: Instant) -> Answer {
    let book = sim.book();
    let id = book.next_id();
    let (parts, body) = request.into_parts();
    let Ok(body) = Limited::new(body, MAX_BODY).collect().await.map(http_body_util::Collected::to_bytes) else {
        let refusal =
            Refusal { status: 413, message: format!("the body is larger than {MAX_BODY} bytes or was cut off") };
        let plan = Plan::refusal(route.dialect(), &refusal);
        let serving = begin(book, id, &parts, &plan, None, arrived);
        return response(book, kill, plan, id, serving);
    };
    let content_type =
        parts.headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default().to_owned();
    let created = OffsetDateTime::now_utc().unix_timestamp();
    let planned = if body.len() > LARGE_BODY {
        let body = body.clone();
        tokio::task::spawn_blocking(move || plan(route, &content_type, &body, id, created)).await.ok()
    } else {
        Some(plan(route, &content_type, &body, id, created))
    };
    let plan = planned.unwrap_or_else(|| {
        Plan::refusal(route.dialect(), &Refusal { status: 500, message: "the request could not be counted".to_owned() })
    });
    let kept = (body.len() <= KEPT_BODY).then(|| std::str::from_utf8(&body).ok().map(str::to_owned)).flatten();
    let mut serving = begin(book, id, &parts, &plan, kept, arrived);
    before_head(book, kill, &plan, &mut serving).await;
    response(book, kill, plan, id, serving)
}

/// All that may come before the response's first byte: a hold, a pause, a break.
async fn before_head(book: &Book, kill: &Kill, plan: &Plan, serving: &mut Serving) {
    let mut hold = book.watch_hold();
    if blocks(*hold.borrow(), 0) {
        serving.set_held(true);
        pass(&mut hold, 0).await;
        serving.set_held(false);
    }
    if !plan.first.is_zero() {
        tokio::time::sleep(plan.first).await;
    }
    if plan.reel.cuts.is_empty() && plan.reel.end != End::Clean {
        match plan.reel.end {
            End::Reset => {
                serving.end(Ending::Fault);
                kill.reset();
            }
            End::Close => {
                serving.end(Ending::Fault);
                kill.close();
            }
            End::Stall | End::Clean => {}
        }
        std::future::pending::<()>().await;
    }
}

fn begin(
    book: &Arc<Book>,
    id: u64,
    parts: &http::request::Parts,
    plan: &Plan,
    body: Option<String>,
    arrived: Instant,
) -> Serving {
    let mut headers = String::with_capacity(512);
    for (name, value) in &parts.headers {
        // Writing to a string doesn't fail.
        let _ = writeln!(headers, "{name}: {}", String::from_utf8_lossy(value.as_bytes()));
    }
    let given = parts.headers.get("x-request-id").and_then(|value| value.to_str().ok());
    let facts = Facts {
        request_id: given.map_or_else(|| request_id(id), str::to_owned),
        path: parts.uri.path().to_owned(),
        model: plan.ask.model.clone(),
        stream: plan.ask.stream,
        include_usage: plan.ask.include_usage,
        max_tokens: plan.ask.max_out,
        prompt_tokens: plan.prompt,
        status: plan.status,
        usage: plan.usage.clone(),
        headers,
        body,
    };
    book.begin(id, facts, arrived)
}

fn request_id(id: u64) -> String {
    format!("req_sim{id:08}")
}

fn response(book: &Book, kill: &Arc<Kill>, plan: Plan, id: u64, serving: Serving) -> Answer {
    let mut headers = HeaderMap::with_capacity(8);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(plan.content_type));
    if let Ok(id) = HeaderValue::from_str(&request_id(id)) {
        headers.insert(HeaderName::from_static("x-request-id"), id.clone());
        headers.insert(HeaderName::from_static("request-id"), id);
    }
    let encoding = match plan.packing {
        Packing::Plain => None,
        Packing::Gzip => Some("gzip"),
        Packing::Deflate => Some("deflate"),
        Packing::Brotli => Some("br"),
    };
    if let Some(encoding) = encoding {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    if let Some(seconds) = plan.retry_after {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    if let Some(length) = plan.claimed_length {
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    }
    if plan.content_type.starts_with("text/event-stream") {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    }
    let exact = plan.has_length && plan.claimed_length.is_none();
    let playback = Playback::new(plan.reel, plan.delay, book.watch_hold(), Arc::clone(kill), serving)
        .stale(plan.stale)
        .with_length(exact);
    let mut response = Response::new(Reply::Left(playback));
    *response.status_mut() = http::StatusCode::from_u16(plan.status).unwrap_or(http::StatusCode::INTERNAL_SERVER_ERROR);
    *response.headers_mut() = headers;
    response
}

/// A reply of the program's own, in JSON.
pub(crate) fn json(status: u16, body: &Value) -> Answer {
    let mut response = Response::new(Reply::Right(http_body_util::Full::new(Bytes::from(body.to_string()))));
    *response.status_mut() = http::StatusCode::from_u16(status).unwrap_or(http::StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
