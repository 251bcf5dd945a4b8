//! To a target, and to the next one where the first did not begin to answer: all under one freeze.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use domain::record::Attempt;
use futures_util::StreamExt;
use http::HeaderValue;

use crate::catalog::Target;
use crate::dialect::Dialect;
use crate::dialect::asked::Changes;
use crate::dialect::watch::Watch;
use crate::error::ApiError;
use crate::health::Sign;
use crate::life::account::Books;
use crate::life::{Call, Reply, translation};
use crate::translate::{self, Translate};
use crate::upstream::refusal::{self, Refusal};
use crate::upstream::{self, Answer, BodyStream};
use crate::wire::sse::{Piece, Splitter};

/// Of an error's body as much is read, and no longer.
const ERROR_BYTES: usize = 64 * 1024;
const ERROR_WITHIN: Duration = Duration::from_secs(5);

/// An upstream that began to answer.
pub enum Served {
    /// Event by event.
    Stream(Box<Stream>),
    /// All at once.
    Whole(Whole),
    /// Bytes that are no text.
    Binary(Box<Binary>),
}

/// A stream whose first event is here.
pub struct Stream {
    /// What is still to come.
    pub body: BodyStream,
    /// Splits it.
    pub splitter: Splitter,
    /// Has seen none of the pieces yet.
    pub watcher: Box<dyn Watch>,
    /// Translates the pieces, where the client speaks another dialect.
    pub translator: Option<Box<dyn Translate>>,
    /// What came so far.
    pub pieces: Vec<Piece>,
    /// The body has ended already.
    pub ended: bool,
}

/// A whole answer.
pub struct Whole {
    /// As it came.
    pub body: Bytes,
    /// Its kind, without parameters.
    pub media_type: String,
    /// Its kind, as the upstream named it.
    pub content_type: Option<HeaderValue>,
}

/// A binary answer whose first bytes are here.
pub struct Binary {
    /// Its first bytes.
    pub first: Bytes,
    /// What is still to come.
    pub body: BodyStream,
    /// Its kind, without parameters.
    pub media_type: String,
    /// Its kind, as the upstream named it.
    pub content_type: Option<HeaderValue>,
}

/// Why nobody serves.
pub enum SendEnd {
    /// The client has gone.
    ClientLeft,
    /// What the client is to read.
    Failed(ApiError),
}

/// Sends the request to one target after the other until one begins to answer.
///
/// # Errors
/// The client left, or the last target's failure.
pub async fn send(call: &Arc<Call>, books: &mut Books, reply: &mut Reply) -> Result<Served, SendEnd> {
    if !books.freeze.may_start() {
        return Err(SendEnd::Failed(ApiError::ledger_unavailable()));
    }
    let (abort, ending) = (books.freeze.abort_signal(), call.app.ending.clone());
    tokio::select! {
        biased;
        () = reply.closed() => Err(SendEnd::ClientLeft),
        () = abort.cancelled() => Err(SendEnd::Failed(ApiError::ledger_unavailable())),
        () = ending.cancelled() => Err(SendEnd::Failed(ApiError::shutting_down())),
        served = attempts(call, books) => served.map_err(SendEnd::Failed),
    }
}

async fn attempts(call: &Call, books: &mut Books) -> Result<Served, ApiError> {
    let lowered_max = books.plan.lowered_max(books.freeze.amount(), books.freeze.tokens().unsigned_abs());
    books.lowered_max = lowered_max;
    let mut last = ApiError::upstream_error("No target serves this model.");
    for target in in_order(call, &books.plan.targets) {
        let changes = Changes {
            upstream_model: &target.upstream_model,
            lowered_max,
            hidden_reasoning: books.plan.model.hidden_reasoning,
        };
        let body = translation::body_for(call, &books.plan, &target, changes)?;
        books.attempts.push(Attempt { target: target.id, status: None, ms: 0, error: Some("given up".to_owned()) });
        let began = Instant::now();
        let tried = attempt(call, books, &target, body, began).await;
        let sign = tried.as_ref().err().map_or(Sign::Well, |refusal| refusal.sign);
        call.app.health.note(&target, sign, tokio::time::Instant::now());
        if let Some(entry) = books.attempts.last_mut() {
            entry.ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
            entry.error = tried.as_ref().err().map(|refusal| refusal.reason.clone());
        }
        match tried {
            Ok(served) => {
                books.serving = Some(target);
                return Ok(served);
            }
            Err(refusal) => {
                tracing::warn!(request_id = %call.context.id, target = %target.id, reason = refusal.reason, next = refusal.next, "an upstream did not serve");
                last = refusal.error;
                if !refusal.next {
                    break;
                }
            }
        }
    }
    Err(last)
}

/// The targets that are well before those that are not; of each by priority, of equal ones those first that need no
/// translation; among equals at random by weight.
#[must_use]
pub fn in_order(call: &Call, targets: &[Arc<Target>]) -> Vec<Arc<Target>> {
    call.app.health.in_order(targets, |target| translation::rank(call.dialect, target), tokio::time::Instant::now())
}

async fn attempt(
    call: &Call,
    books: &mut Books,
    target: &Target,
    body: Bytes,
    began: Instant,
) -> Result<Served, Refusal> {
    let key = target.upstream.key.as_deref();
    let answer = upstream::post(target, call, body).await;
    let answer = answer.map_err(|failure| refusal::of_failure(&failure, key))?;
    let status = answer.status;
    books.upstream_status = Some(status.as_u16());
    if let Some(entry) = books.attempts.last_mut() {
        entry.status = Some(status.as_u16());
    }
    metrics::histogram!("tollgate_gateway_upstream_head_seconds").record(began.elapsed());
    if !status.is_success() {
        let (retry_after_s, said) = (answer.retry_after_s(), beginning(answer).await);
        return Err(refusal::of_status(status, retry_after_s, &said, key));
    }
    match answer.media_type().as_str() {
        "text/event-stream" if call.asked.stream => {
            first_event(call, books, answer, target).await.map(Box::new).map(Served::Stream)
        }
        "text/html" => Err(refusal::of_garbage("HTML instead of an answer")),
        kind if call.dialect == Dialect::Speech && kind != "application/json" => {
            first_bytes(answer, target).await.map(Box::new).map(Served::Binary)
        }
        _ => whole(answer, target, call.app.config.reply_bytes).await.map(Served::Whole),
    }
}

/// The beginning of an error's body.
pub async fn beginning(mut answer: Answer) -> Bytes {
    let mut said = BytesMut::new();
    let read = async {
        while let Some(Ok(chunk)) = answer.body.next().await {
            said.extend_from_slice(&chunk[..chunk.len().min(ERROR_BYTES - said.len())]);
            if said.len() == ERROR_BYTES {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(ERROR_WITHIN, read).await;
    said.freeze()
}

/// Waits for the first bytes of a binary answer.
async fn first_bytes(mut answer: Answer, target: &Target) -> Result<Binary, Refusal> {
    loop {
        match next(&mut answer.body, target.upstream.read_timeout).await? {
            Some(first) if first.is_empty() => {}
            Some(first) => {
                let (media_type, content_type) = (answer.media_type(), answer.content_type());
                return Ok(Binary { first, body: answer.body, media_type, content_type });
            }
            None => return Err(refusal::of_garbage("an answer without a byte")),
        }
    }
}

/// Waits for the first event that says something, so that an error in it can still become a status.
async fn first_event(call: &Call, books: &Books, answer: Answer, target: &Target) -> Result<Stream, Refusal> {
    let watcher = || call.dialect_at(target).watcher(&books.plan.model.tokenizer, &call.asked);
    let translator = translation::stream(call, &books.plan, target);
    let mut stream = Stream {
        body: answer.body,
        splitter: translator.as_ref().map_or_else(Splitter::default, |_| Splitter::new(translate::HELD_MAX)),
        watcher: watcher(),
        translator,
        pieces: Vec::new(),
        ended: false,
    };
    let key = target.upstream.key.as_deref();
    let mut peek = watcher();
    loop {
        let from = stream.pieces.len();
        match next(&mut stream.body, target.upstream.read_timeout).await? {
            Some(chunk) => stream.splitter.push(chunk, &mut stream.pieces),
            None => {
                stream.ended = true;
                stream.pieces.extend(stream.splitter.finish());
            }
        }
        let fresh = &stream.pieces[from..];
        for piece in fresh {
            peek.see(piece);
        }
        if let Some(error) = peek.error().filter(|_| !peek.has_answer()) {
            return Err(refusal::of_error_in_success(error, key));
        }
        if fresh.iter().any(|piece| {
            matches!(piece, Piece::Part { .. }) || matches!(piece, Piece::Event { data, .. } if !data.is_empty())
        }) {
            return Ok(stream);
        }
        if stream.ended {
            return Err(refusal::of_garbage("a stream without an event"));
        }
    }
}

async fn whole(mut answer: Answer, target: &Target, limit: usize) -> Result<Whole, Refusal> {
    let mut body = BytesMut::new();
    while let Some(chunk) = next(&mut answer.body, target.upstream.read_timeout).await? {
        if body.len() + chunk.len() > limit {
            return Err(refusal::of_garbage("an answer larger than the gateway's limit"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Whole { body: body.freeze(), media_type: answer.media_type(), content_type: answer.content_type() })
}

async fn next(body: &mut BodyStream, within: Duration) -> Result<Option<Bytes>, Refusal> {
    match tokio::time::timeout(within, body.next()).await {
        Ok(Some(Ok(chunk))) => Ok(Some(chunk)),
        Ok(None) => Ok(None),
        Ok(Some(Err(error))) => Err(refusal::of_failure(&upstream::Failure::Broken(error.to_string()), None)),
        Err(_) => Err(refusal::of_failure(&upstream::Failure::Timeout, None)),
    }
}
