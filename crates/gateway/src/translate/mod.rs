//! One dialect served by targets that speak only another: requests, whole replies and streams, both ways between OpenAI's
//! chat completions and Anthropic's messages.
//!
//! Pure functions and state machines over bytes. What can't be translated is refused by the field's name, never dropped.
//! Usage is read, words are counted and errors are noticed in the upstream's own dialect, by its watcher; what the client
//! reads, the gateway's own endings included, is written here.

pub mod chat_by_messages;
pub mod fields;
pub mod finish;
pub mod messages_by_chat;
pub mod usage;

use bytes::Bytes;
use domain::usage::Usage;

use crate::dialect::Dialect;
use crate::dialect::asked::Asked;
use crate::dialect::field::{self, BadField};
use crate::dialect::watch::Ending;
use crate::wire::sse::Piece;

/// Bytes of one event held for its translation, which needs the whole event.
pub const HELD_MAX: usize = 8 * 1024 * 1024;

/// A pair of dialects, named by the client's and the upstream's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Translation {
    /// The client speaks chat completions, the upstream messages.
    ChatByMessages,
    /// The client speaks messages, the upstream chat completions.
    MessagesByChat,
}

/// What a request's translation needs to know of the model.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Sent where the caller names no maximum and the other dialect needs one.
    pub max_output_tokens: u64,
    /// Only `max_completion_tokens` bounds it.
    pub hidden_reasoning: bool,
}

/// A request in the upstream's dialect, still with the caller's name of the model.
#[derive(Debug, Clone)]
pub struct Translated {
    /// The dialect.
    pub dialect: Dialect,
    /// The body.
    pub body: Bytes,
    /// What the body asks for.
    pub asked: Asked,
}

/// What a reply says that the upstream does not tell.
#[derive(Debug, Clone)]
pub struct Frame {
    /// The request's id, for upstreams that name none of their own.
    pub id: String,
    /// The model as the caller knows it, likewise.
    pub model: String,
    /// Seconds of Unix time.
    pub now: i64,
    /// The local count of the prompt, for a stream's head.
    pub prompt_tokens: u64,
    /// Does the client want the usage chunk of a chat's stream?
    pub include_usage: bool,
}

/// Translates one stream, piece by piece. Its state is that of the pieces that went to the client.
pub trait Translate: Send + Sync {
    /// The next piece of the upstream's stream as events of the client's dialect; often none.
    ///
    /// # Errors
    /// It can't be read, is too large to be held, or is an error: the stream ends here.
    fn piece(&mut self, piece: &Piece) -> Result<Bytes, String>;
    /// The events that end a stream that is complete. `usage` is what is charged.
    fn end(&mut self, usage: &Usage) -> Bytes;
    /// The events with which the gateway ends a stream itself.
    fn stop(&self, ending: Ending<'_>) -> Bytes;
}

impl Translation {
    /// From a client's dialect to an upstream's and back; none where they are one, or strangers.
    #[must_use]
    pub const fn between(client: Dialect, upstream: Dialect) -> Option<Self> {
        match (client, upstream) {
            (Dialect::Chat, Dialect::Messages) => Some(Self::ChatByMessages),
            (Dialect::Messages, Dialect::Chat) => Some(Self::MessagesByChat),
            _ => None,
        }
    }

    /// The request in the upstream's dialect.
    ///
    /// # Errors
    /// The first field that can't be used, or has no counterpart.
    pub fn request(self, body: &[u8], bounds: Bounds) -> Result<Translated, BadField> {
        let (dialect, body) = match self {
            Self::ChatByMessages => (Dialect::Messages, chat_by_messages::request::translate(body, bounds)?),
            Self::MessagesByChat => (Dialect::Chat, messages_by_chat::request::translate(body, bounds)?),
        };
        // A translated body wishes for no usage chunk, so that its rewriting for a target adds the wish.
        let asked = dialect.read(&field::object(body.as_bytes())?)?;
        Ok(Translated { dialect, body: Bytes::from(body), asked })
    }

    /// A whole reply in the client's dialect. `usage` is what is charged.
    #[must_use]
    pub fn reply(self, body: &[u8], usage: &Usage, frame: &Frame) -> Bytes {
        match self {
            Self::ChatByMessages => chat_by_messages::reply::translate(body, usage, frame),
            Self::MessagesByChat => messages_by_chat::reply::translate(body, usage, frame),
        }
    }

    /// A stream's translation.
    #[must_use]
    pub fn stream(self, frame: Frame) -> Box<dyn Translate> {
        match self {
            Self::ChatByMessages => Box::new(chat_by_messages::stream::Stream::new(frame)),
            Self::MessagesByChat => Box::new(messages_by_chat::stream::Stream::new(frame)),
        }
    }
}

/// Why a stream can't go on whose event is no JSON of a known form.
const UNREADABLE: &str = "an event that can't be read";

/// What a piece holds.
enum Content<'a> {
    /// An event's data.
    Data(&'a Bytes),
    /// A comment, which keeps the connection alive.
    Comment,
    /// A blank line.
    Nothing,
}

fn content_of(piece: &Piece) -> Result<Content<'_>, String> {
    match piece {
        Piece::Event { data, .. } if !data.is_empty() => Ok(Content::Data(data)),
        Piece::Event { raw, .. } if raw.contains(&b':') => Ok(Content::Comment),
        Piece::Event { .. } | Piece::Rest(_) => Ok(Content::Nothing),
        Piece::Part { .. } => Err("an event too large to be translated".to_owned()),
    }
}
