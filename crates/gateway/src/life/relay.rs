//! The stream on its way to the client: bytes unchanged, as they come, counted and guarded.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::response::Response;
use bytes::{Bytes, BytesMut};
use domain::usage::Usage;
use futures_util::StreamExt;
use http::{HeaderValue, header};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::dialect::watch::{Ending, Stopped, Verdict};
use crate::error::{ApiError, set};
use crate::life::account::Books;
use crate::life::guard::Guard;
use crate::life::send::Stream;
use crate::life::{Reply, drain};
use crate::upstream::refusal;
use crate::wire::sse::Piece;

/// Frames between the relay and a client that reads slowly.
const FRAMES: usize = 8;
/// On a silent stream a comment is sent this often, so that nobody between takes it for dead.
const PING_EVERY: Duration = Duration::from_secs(15);
/// How often the checkpoint is renewed that the beats carry.
const PROGRESS_EVERY: Duration = Duration::from_millis(250);
/// After `[DONE]` the upstream gets this long to end its body, so that the connection can be used again.
const TRAILER_WITHIN: Duration = Duration::from_secs(1);

/// How a stream ended.
#[derive(Debug)]
pub enum End {
    /// The upstream said all it had to say; what is still to be sent.
    Complete(Bytes),
    /// The client has gone, or stopped reading.
    ClientLeft,
    /// The upstream broke off, or reported an error: why.
    UpstreamDied(String),
    /// The gateway ended it.
    Stopped(Stopped),
}

/// Relays a stream whose first event is here to its end, then settles.
pub async fn relay(mut books: Books, mut stream: Box<Stream>, reply: Reply) {
    let (client, frames) = mpsc::channel::<Result<Bytes, Infallible>>(FRAMES);
    let head = head(&books, frames);
    books.first_byte();
    let end = if reply.send(head).is_err() {
        End::ClientLeft
    } else {
        Relay::new(&mut books, &mut stream, &client).run().await
    };
    if matches!(end, End::ClientLeft) && books.relayed {
        drain::read_on(&mut books, &mut stream).await;
    }
    let (usage, is_estimated) = match stream.watcher.usage() {
        Some(reported) => (Some(reported), false),
        None if books.relayed => (Some(relayed_usage(&books, &mut stream)), true),
        None => (None, false),
    };
    books.served_model = stream.watcher.served_model().map(str::to_owned);
    let ending = ending(&books, &mut stream, &end, usage.as_ref());
    let label = match &end {
        End::Complete(_) if stream.watcher.error().is_some() => "upstream_died",
        // The client was told so too: see `ending`.
        End::Complete(_) if stream.translator.is_some() && !stream.watcher.is_complete() => "upstream_died",
        End::Complete(_) => "completed",
        End::ClientLeft => "client_left",
        End::UpstreamDied(_) => "upstream_died",
        End::Stopped(stopped) => stopped.as_str(),
    };
    if let End::UpstreamDied(why) = &end {
        tracing::warn!(request_id = %books.call.context.id, why, "an upstream broke off mid-stream");
    }
    let complete = matches!(end, End::Complete(_));
    let trailer = (complete && !stream.ended).then_some(stream); // everything else closes the upstream here and now
    books.settle(usage, is_estimated, label);
    if !ending.is_empty() {
        let _ = client.send(Ok(ending)).await;
    }
    drop(client);
    if let Some(mut stream) = trailer {
        let _ =
            tokio::time::timeout(TRAILER_WITHIN, async { while let Some(Ok(_)) = stream.body.next().await {} }).await;
    }
}

/// The local count of what was relayed; the prompt by the provider's own figure where that came already.
fn relayed_usage(books: &Books, stream: &mut Stream) -> Usage {
    let output = books.relayed_tokens.unwrap_or_else(|| stream.watcher.words_mut().exact());
    match stream.watcher.reported_prompt() {
        Some(prompt) => Usage { output, ..prompt },
        None => books.counted(output),
    }
}

/// The reply's head.
fn head(books: &Books, frames: mpsc::Receiver<Result<Bytes, Infallible>>) -> Response {
    let body = Body::from_stream(futures_util::stream::unfold(frames, |mut frames| async {
        frames.recv().await.map(|frame| (frame, frames))
    }));
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    set(headers, "x-accel-buffering", "no");
    books.reply_headers(headers);
    response
}

/// What the client is sent last.
fn ending(books: &Books, stream: &mut Stream, end: &End, usage: Option<&Usage>) -> Bytes {
    let usage = usage.copied().unwrap_or_default();
    match (end, &mut stream.translator) {
        (End::Complete(last), None) => last.clone(),
        (End::Complete(_), Some(translator)) if stream.watcher.is_complete() => translator.end(&usage),
        (End::Complete(_), Some(_)) | (End::UpstreamDied(_), _) => broken_off(books, stream),
        (End::ClientLeft, _) => Bytes::new(),
        (End::Stopped(stopped), translator) => {
            let ending = Ending {
                stopped: *stopped,
                usage,
                id: &books.call.context.id.to_string(),
                model: &books.call.asked.model,
                now: books.call.context.started_at.as_second(),
            };
            translator.as_ref().map_or_else(|| stream.watcher.ending(ending), |translator| translator.stop(ending))
        }
    }
}

/// The error event of a stream that broke off; of a translated one with the upstream's own words, which have not gone out.
fn broken_off(books: &Books, stream: &Stream) -> Bytes {
    let key = books.serving.as_ref().and_then(|target| target.upstream.key.as_deref());
    let error = match stream.watcher.error().filter(|_| stream.translator.is_some()) {
        Some(message) => refusal::of_error_in_success(message, key).error,
        None => ApiError::upstream_error("The provider broke off in the middle of the answer."),
    };
    Bytes::from(error.to_event(books.call.context.shape))
}

struct Relay<'a> {
    books: &'a mut Books,
    stream: &'a mut Stream,
    client: &'a mpsc::Sender<Result<Bytes, Infallible>>,
    guard: Guard,
    stall: Duration,
    silence_max: Duration,
    progress_at: Option<Instant>,
}

impl<'a> Relay<'a> {
    fn new(books: &'a mut Books, stream: &'a mut Stream, client: &'a mpsc::Sender<Result<Bytes, Infallible>>) -> Self {
        let guard = Guard::new(&books.plan, books.freeze.amount());
        let stall = books.call.app.config.client_stall_s;
        let silence_max = books.serving.as_ref().map_or(PING_EVERY, |target| target.upstream.read_timeout);
        Self { books, stream, client, guard, stall, silence_max, progress_at: None }
    }

    async fn run(&mut self) -> End {
        let (abort, ending): (CancellationToken, CancellationToken) =
            (self.books.freeze.abort_signal(), self.books.call.app.ending.clone());
        let client = self.client;
        let mut left = std::pin::pin!(client.closed());
        let mut aborted = std::pin::pin!(abort.cancelled());
        let mut ended = std::pin::pin!(ending.cancelled());
        tokio::select! {
            biased;
            () = &mut left => End::ClientLeft,
            () = &mut aborted => End::UpstreamDied("the ledger lost sight of this request".to_owned()),
            () = &mut ended => End::Stopped(Stopped::Shutdown),
            end = self.pump() => end,
        }
    }

    /// Relays until the upstream ends. Cancelled at any await: what counts is in `books` and the watcher.
    async fn pump(&mut self) -> End {
        let mut pieces = std::mem::take(&mut self.stream.pieces);
        loop {
            if let Some(end) = self.pass(&mut pieces).await {
                return end;
            }
            if self.stream.ended {
                return End::Complete(Bytes::new());
            }
            match self.next().await {
                Err(why) if self.stream.watcher.is_complete() => {
                    tracing::debug!(why, "an upstream broke off after its answer was complete");
                    return End::Complete(Bytes::new());
                }
                Err(why) => return End::UpstreamDied(why),
                Ok(Some(chunk)) => self.stream.splitter.push(chunk, &mut pieces),
                Ok(None) => {
                    self.stream.ended = true;
                    pieces.extend(self.stream.splitter.finish());
                }
            }
        }
    }

    /// Passes on what may pass; `Some` where the stream ends with it.
    async fn pass(&mut self, pieces: &mut Vec<Piece>) -> Option<End> {
        let mut out = Outgoing::default();
        for piece in pieces.drain(..) {
            let watcher = &mut self.stream.watcher;
            let (Piece::Event { raw, .. } | Piece::Part { raw, .. } | Piece::Rest(raw)) = &piece;
            let counted_before = (!self.guard.is_far(watcher.words(), raw.len())).then(|| watcher.words_mut().exact());
            match watcher.see(&piece) {
                Verdict::Hide => continue,
                Verdict::Done => return Some(self.flush(out).await.unwrap_or_else(|| End::Complete(raw.clone()))),
                Verdict::Pass => {}
            }
            if let Some(before) = counted_before
                && let Err(stopped) = self.guard.allow(&self.books.plan, &self.books.freeze, watcher.words_mut()).await
            {
                self.books.relayed_tokens = Some(before);
                return Some(self.flush(out).await.unwrap_or(End::Stopped(stopped)));
            }
            match &mut self.stream.translator {
                None => out.push(raw),
                Some(translator) => match translator.piece(&piece) {
                    Ok(events) => out.push(&events),
                    Err(why) => return Some(self.flush(out).await.unwrap_or(End::UpstreamDied(why))),
                },
            }
        }
        self.report_progress();
        self.flush(out).await
    }

    async fn flush(&mut self, out: Outgoing) -> Option<End> {
        let bytes = out.into_bytes();
        if bytes.is_empty() {
            return None;
        }
        self.books.relayed = true;
        match tokio::time::timeout(self.stall, self.client.send(Ok(bytes))).await {
            Ok(Ok(())) => None,
            Ok(Err(_)) | Err(_) => Some(End::ClientLeft),
        }
    }

    fn report_progress(&mut self) {
        let now = Instant::now();
        if self.progress_at.is_none_or(|at| now.duration_since(at) >= PROGRESS_EVERY) {
            self.progress_at = Some(now);
            let usage = self.books.counted(self.stream.watcher.words_mut().exact());
            self.books.freeze.set_progress(self.books.charge(&usage));
        }
    }

    /// The upstream's next bytes; none at its end.
    async fn next(&mut self) -> Result<Option<Bytes>, String> {
        let mut silent = Duration::ZERO;
        loop {
            let wait = PING_EVERY.min(self.silence_max.saturating_sub(silent));
            match tokio::time::timeout(wait, self.stream.body.next()).await {
                Ok(Some(Ok(chunk))) => return Ok(Some(chunk)),
                Ok(None) => return Ok(None),
                Ok(Some(Err(error))) => return Err(error.to_string()),
                Err(_) => silent += wait,
            }
            if silent >= self.silence_max {
                return Err("time-out".to_owned());
            }
            if self.stream.splitter.is_between_events() {
                // Whether it arrives is seen at the next flush.
                let _ = self.client.try_send(Ok(Bytes::from_static(b": ping\n\n")));
            }
        }
    }
}

/// Frames gathered into one write.
#[derive(Default)]
struct Outgoing {
    one: Option<Bytes>,
    all: BytesMut,
}

impl Outgoing {
    fn push(&mut self, raw: &Bytes) {
        if !self.all.is_empty() {
            self.all.extend_from_slice(raw);
        } else if let Some(one) = self.one.take() {
            self.all.extend_from_slice(&one);
            self.all.extend_from_slice(raw);
        } else {
            self.one = Some(raw.clone());
        }
    }

    fn into_bytes(self) -> Bytes {
        self.one.unwrap_or_else(|| self.all.freeze())
    }
}
