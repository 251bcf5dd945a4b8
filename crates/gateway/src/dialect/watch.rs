//! Watching a streamed answer, whatever its dialect.

use std::sync::Arc;

use bytes::Bytes;
use domain::usage::Usage;

use crate::tokens::{RunningCount, Tokenizer};
use crate::wire::sse::Piece;

/// Choices counted apart; more share the last count.
const CHOICES_MAX: usize = 128;
/// Tokens that frame a tool call.
pub const PER_TOOL_CALL: u64 = 8;

/// What is to be done with a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Goes to the client.
    Pass,
    /// The usage chunk, which this client did not ask for.
    Hide,
    /// The stream's own end: nothing that matters follows.
    Done,
}

/// Why the gateway ended a stream by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// No more quota.
    Quota,
    /// The upstream went on beyond every maximum.
    Ceiling,
    /// The gateway is shutting down.
    Shutdown,
}

impl Stopped {
    /// The word in `x_tollgate.stopped`, logs and metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Quota => "quota",
            Self::Ceiling => "ceiling",
            Self::Shutdown => "shutdown",
        }
    }
}

/// What the gateway's own ending of a stream needs to know.
#[derive(Debug, Clone, Copy)]
pub struct Ending<'a> {
    /// Why it ends.
    pub stopped: Stopped,
    /// What is charged.
    pub usage: Usage,
    /// The request's id, for streams that have not named theirs.
    pub id: &'a str,
    /// The model as the caller knows it.
    pub model: &'a str,
    /// Seconds of Unix time.
    pub now: i64,
}

/// Follows one stream: words for the local count, the usage report, errors, the end.
pub trait Watch: Send + Sync {
    /// Looks at the next piece.
    fn see(&mut self, piece: &Piece) -> Verdict;
    /// The words so far.
    fn words(&self) -> &Words;
    /// The words so far, for an exact count.
    fn words_mut(&mut self) -> &mut Words;
    /// The provider's own figure, as reported last.
    fn usage(&self) -> Option<Usage>;
    /// The prompt's part of a figure whose answer part has not come yet.
    fn reported_prompt(&self) -> Option<Usage> {
        None
    }
    /// The error the upstream reported inside its stream.
    fn error(&self) -> Option<&str>;
    /// True once the upstream did serve: a word, a finish or a usage report came.
    fn has_answer(&self) -> bool;
    /// True once the stream said that it is complete.
    fn is_complete(&self) -> bool;
    /// The model as the upstream named it.
    fn served_model(&self) -> Option<&str>;
    /// The events with which the gateway ends a stream itself.
    fn ending(&self, ending: Ending<'_>) -> Bytes;
}

/// The words of a streamed answer, choice by choice.
#[derive(Debug)]
pub struct Words {
    tokenizer: Arc<Tokenizer>,
    choices: Vec<(u64, RunningCount)>,
    has_parts: bool,
}

impl Words {
    /// None yet.
    #[must_use]
    pub const fn new(tokenizer: Arc<Tokenizer>) -> Self {
        Self { tokenizer, choices: Vec::new(), has_parts: false }
    }

    /// The count of one choice.
    pub fn of(&mut self, index: u64) -> &mut RunningCount {
        let found = self.choices.iter().position(|(choice, _)| *choice == index);
        let at = match found {
            Some(at) => at,
            None if self.choices.len() < CHOICES_MAX => {
                self.choices.push((index, RunningCount::new(Arc::clone(&self.tokenizer))));
                self.choices.len() - 1
            }
            None => CHOICES_MAX - 1,
        };
        &mut self.choices[at].1
    }

    /// Appends the words of a JSON value to a choice: a string's text, else (a provider's own parts) the JSON itself.
    pub fn push_value(&mut self, index: u64, value: &str) {
        if value == "null" {
            return;
        }
        match serde_json::from_str::<String>(value) {
            Ok(text) => self.of(index).push(&text),
            Err(_) => self.of(index).push(value),
        }
    }

    /// Tokens of all choices, at least: cheap, a byte not yet counted is taken for a token.
    #[must_use]
    pub fn upper_bound(&self) -> u64 {
        self.choices.iter().map(|(_, count)| count.upper_bound()).fold(0, u64::saturating_add)
    }

    /// Tokens of all choices.
    pub fn exact(&mut self) -> u64 {
        self.choices.iter_mut().map(|(_, count)| count.exact()).fold(0, u64::saturating_add)
    }

    /// Notes that an event passed that was too large to count.
    pub const fn note_part(&mut self) {
        self.has_parts = true;
    }

    /// True if events passed that were too large to count.
    #[must_use]
    pub const fn has_parts(&self) -> bool {
        self.has_parts
    }

    /// True if nothing was said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.choices.is_empty() && !self.has_parts
    }
}

/// The message of an error object or text.
#[must_use]
pub fn message_of(error: &serde_json::Value) -> String {
    let message = error.get("message").and_then(serde_json::Value::as_str).or_else(|| error.as_str());
    message.unwrap_or("an error without a message").to_owned()
}

/// The last `"usage": {...}` in the last bytes of an event too large to hold.
#[must_use]
pub fn usage_in_tail(tail: &[u8]) -> Option<serde_json::Value> {
    let at = memchr::memmem::rfind(tail, b"\"usage\"")?;
    let after = tail[at + 7..].trim_ascii_start().strip_prefix(b":")?;
    serde_json::Deserializer::from_slice(after).into_iter::<serde_json::Value>().next()?.ok()
}
