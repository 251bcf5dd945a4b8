//! The provider's own books: answers being served now, and a ledger of what was served, as ground truth for tests.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
    time::Instant,
};

use parking_lot::Mutex;
use serde::Serialize;
use serde_json::Value;
use time::OffsetDateTime;
use tokio::sync::watch;

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Everything was handed to the connection.
    Complete,
    /// The caller went away first.
    ClosedByClient,
    /// The script broke it off.
    Fault,
}

/// What is known of an answer when it begins.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The caller's `x-request-id`, or one made here.
    pub request_id: String,
    /// Path of the request.
    pub path: String,
    /// Model as asked for.
    pub model: String,
    /// Whether a stream was asked for.
    pub stream: bool,
    /// Whether `stream_options.include_usage` was asked for.
    pub include_usage: bool,
    /// Largest output asked for.
    pub max_tokens: Option<u32>,
    /// Counted (or scripted) prompt tokens.
    pub prompt_tokens: u32,
    /// Status of the response.
    pub status: u16,
    /// What the answer reports if it is played to its end.
    pub usage: Option<Value>,
    /// Request headers, one `name: value` a line.
    pub headers: String,
    /// The body where it is text and short.
    pub body: Option<String>,
}

/// One answer being served.
#[derive(Debug)]
pub struct Live {
    id: u64,
    facts: Facts,
    arrived: Instant,
    arrived_at: OffsetDateTime,
    sent: AtomicU32,
    held: AtomicBool,
}

/// A line of the ledger.
#[derive(Debug)]
struct Line {
    seq: u64,
    live: Arc<Live>,
    ending: Ending,
    duration_ms: u64,
}

/// A line of the ledger as `GET /sim/ledger` shows it.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// Rises by one with each answer that ended.
    pub seq: u64,
    /// The caller's `x-request-id`, or one made here.
    pub request_id: String,
    /// Path of the request.
    pub path: String,
    /// Model as asked for.
    pub model: String,
    /// Whether a stream was asked for.
    pub stream: bool,
    /// Whether the stream's usage was asked for.
    pub include_usage: bool,
    /// Largest output asked for.
    pub max_tokens: Option<u32>,
    /// Counted (or scripted) prompt tokens.
    pub prompt_tokens: u32,
    /// Output tokens handed to the connection.
    pub output_tokens_sent: u32,
    /// Usage that the answer reported, in its dialect's shape; null where it held none or never got there.
    pub usage: Option<Value>,
    /// Status of the response.
    pub status: u16,
    /// How it ended.
    pub ending: Ending,
    /// Milliseconds from the request's arrival until its caller was seen to be gone; null if the caller stayed.
    pub closed_by_client_ms: Option<u64>,
    /// Milliseconds from arrival to end.
    pub duration_ms: u64,
    /// Arrival, in milliseconds since 1970.
    pub started_unix_ms: i64,
    /// End, in milliseconds since 1970.
    pub ended_unix_ms: i64,
    /// Request headers; values of a name that came several times are joined with a comma.
    pub headers: BTreeMap<String, String>,
    /// The request's body where it is text of at most 4 kB.
    pub body: Option<String>,
}

/// An answer being served, as `GET /sim/active` shows it.
#[derive(Clone, Debug, Serialize)]
pub struct ActiveEntry {
    /// The caller's `x-request-id`, or one made here.
    pub request_id: String,
    /// Path of the request.
    pub path: String,
    /// Model as asked for.
    pub model: String,
    /// Whether a hold stops it.
    pub held: bool,
    /// Age in milliseconds.
    pub age_ms: u64,
    /// Output tokens handed to the connection so far.
    pub output_tokens_sent: u32,
}

/// The answers being served now.
#[derive(Clone, Debug, Serialize)]
pub struct Active {
    /// How many a hold stops.
    pub held: usize,
    /// How many run.
    pub running: usize,
    /// Each of them, oldest first.
    pub answers: Vec<ActiveEntry>,
}

#[derive(Debug, Default)]
struct Ring {
    last_seq: u64,
    lines: VecDeque<Line>,
}

/// Everything the program knows of its answers.
#[derive(Debug)]
pub struct Book {
    capacity: usize,
    ring: Mutex<Ring>,
    active: Mutex<HashMap<u64, Arc<Live>>>,
    next_id: AtomicU64,
    hold: watch::Sender<Option<u32>>,
}

impl Book {
    /// An empty book that keeps the last `capacity` lines.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity: capacity.max(1),
            ring: Mutex::default(),
            active: Mutex::default(),
            next_id: AtomicU64::new(1),
            hold: watch::Sender::new(None),
        }
    }

    /// A number no other request has.
    pub fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Stops every answer that has not got beyond `chunks` content chunks (0: before its first byte).
    pub fn hold(&self, chunks: u32) {
        self.hold.send_replace(Some(chunks));
    }

    /// Frees all answers.
    pub fn release(&self) {
        self.hold.send_replace(None);
    }

    /// Watches the hold.
    pub(crate) fn watch_hold(&self) -> watch::Receiver<Option<u32>> {
        self.hold.subscribe()
    }

    /// Enters an answer; it stays active until the returned guard ends it or is dropped (the caller went away).
    pub(crate) fn begin(self: &Arc<Self>, id: u64, facts: Facts, arrived: Instant) -> Serving {
        let live = Arc::new(Live {
            id,
            facts,
            arrived,
            arrived_at: OffsetDateTime::now_utc() - arrived.elapsed(),
            sent: AtomicU32::new(0),
            held: AtomicBool::new(false),
        });
        self.active.lock().insert(id, Arc::clone(&live));
        Serving { book: Arc::clone(self), live, ended: false }
    }

    fn end(&self, live: &Arc<Live>, ending: Ending) {
        self.active.lock().remove(&live.id);
        let duration_ms = millis(live.arrived);
        let mut ring = self.ring.lock();
        ring.last_seq += 1;
        let seq = ring.last_seq;
        if ring.lines.len() >= self.capacity {
            ring.lines.pop_front();
        }
        ring.lines.push_back(Line { seq, live: Arc::clone(live), ending, duration_ms });
    }

    /// Lines with a sequence number above `after`, in order, at most `limit`.
    #[must_use]
    pub fn ledger(&self, after: u64, limit: usize) -> Vec<Entry> {
        let ring = self.ring.lock();
        let from = ring.lines.partition_point(|line| line.seq <= after);
        ring.lines.range(from..).take(limit).map(Line::entry).collect()
    }

    /// The answers being served now.
    #[must_use]
    pub fn active(&self) -> Active {
        let mut lives: Vec<_> = self.active.lock().values().cloned().collect();
        lives.sort_unstable_by_key(|live| live.id);
        let answers: Vec<_> = lives.iter().map(|live| live.entry()).collect();
        let held = answers.iter().filter(|answer| answer.held).count();
        Active { held, running: answers.len() - held, answers }
    }
}

impl Live {
    fn entry(&self) -> ActiveEntry {
        ActiveEntry {
            request_id: self.facts.request_id.clone(),
            path: self.facts.path.clone(),
            model: self.facts.model.clone(),
            held: self.held.load(Ordering::Relaxed),
            age_ms: millis(self.arrived),
            output_tokens_sent: self.sent.load(Ordering::Relaxed),
        }
    }
}

impl Line {
    fn entry(&self) -> Entry {
        let facts = &self.live.facts;
        let mut headers: BTreeMap<String, String> = BTreeMap::new();
        for (name, value) in facts.headers.lines().filter_map(|line| line.split_once(": ")) {
            headers
                .entry(name.to_owned())
                .and_modify(|all| *all = format!("{all}, {value}"))
                .or_insert_with(|| value.to_owned());
        }
        let started_unix_ms = unix_ms(self.live.arrived_at);
        Entry {
            seq: self.seq,
            request_id: facts.request_id.clone(),
            path: facts.path.clone(),
            model: facts.model.clone(),
            stream: facts.stream,
            include_usage: facts.include_usage,
            max_tokens: facts.max_tokens,
            prompt_tokens: facts.prompt_tokens,
            output_tokens_sent: self.live.sent.load(Ordering::Relaxed),
            usage: facts.usage.clone().filter(|_| self.ending == Ending::Complete),
            status: facts.status,
            ending: self.ending,
            closed_by_client_ms: (self.ending == Ending::ClosedByClient).then_some(self.duration_ms),
            duration_ms: self.duration_ms,
            started_unix_ms,
            ended_unix_ms: started_unix_ms.saturating_add_unsigned(self.duration_ms),
            headers,
            body: facts.body.clone(),
        }
    }
}

/// An answer in the making. Dropping it unended means that its caller went away.
#[derive(Debug)]
pub(crate) struct Serving {
    book: Arc<Book>,
    live: Arc<Live>,
    ended: bool,
}

impl Serving {
    pub(crate) fn add_sent(&self, tokens: u32) {
        self.live.sent.fetch_add(tokens, Ordering::Relaxed);
    }

    pub(crate) fn set_held(&self, held: bool) {
        self.live.held.store(held, Ordering::Relaxed);
    }

    /// Writes the line. Later calls do nothing.
    pub(crate) fn end(&mut self, ending: Ending) {
        if !std::mem::replace(&mut self.ended, true) {
            self.book.end(&self.live, ending);
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.end(Ending::ClosedByClient);
    }
}

fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

fn unix_ms(at: OffsetDateTime) -> i64 {
    i64::try_from(at.unix_timestamp_nanos() / 1_000_000).unwrap_or(i64::MAX)
}
