//! Watching a streamed chat answer: words for the local count, the usage report, errors, the end.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use domain::usage::{self, Usage};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::tokens::{RunningCount, Tokenizer};
use crate::wire::sse::Piece;

/// Choices counted apart; more share the last count.
const CHOICES_MAX: usize = 128;
/// Tokens that frame a tool call.
const PER_TOOL_CALL: u64 = 8;

/// What is to be done with a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Goes to the client.
    Pass,
    /// The usage chunk, which this client did not ask for.
    Hide,
    /// `[DONE]`: nothing that matters follows.
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

/// Follows one stream.
#[derive(Debug)]
pub struct Watcher {
    tokenizer: Arc<Tokenizer>,
    hide_usage: bool,
    choices: Vec<Choice>,
    usage: Option<Usage>,
    error: Option<String>,
    head: Option<Head>,
    last_was_hidden: bool,
    done: bool,
    /// The usage chunk that ends a stream came.
    has_final_usage: bool,
    /// Events too large to count passed.
    has_parts: bool,
}

#[derive(Debug)]
struct Choice {
    index: u64,
    count: RunningCount,
    finished: bool,
}

#[derive(Debug, Clone)]
struct Head {
    id: String,
    created: i64,
    model: String,
}

impl Watcher {
    /// Watches a stream whose client asked for usage, or did not.
    #[must_use]
    pub fn new(tokenizer: Arc<Tokenizer>, include_usage: bool) -> Self {
        Self {
            tokenizer,
            hide_usage: !include_usage,
            choices: Vec::new(),
            usage: None,
            error: None,
            head: None,
            last_was_hidden: false,
            done: false,
            has_final_usage: false,
            has_parts: false,
        }
    }

    /// Looks at the next piece.
    pub fn see(&mut self, piece: &Piece) -> Verdict {
        let verdict = match piece {
            Piece::Event { data, .. } => self.event(data),
            Piece::Part { tail, .. } => {
                self.has_parts = true;
                if let Some(tail) = tail {
                    self.usage = usage_in_tail(tail).or(self.usage);
                }
                Verdict::Pass
            }
            Piece::Rest(_) => return if self.last_was_hidden { Verdict::Hide } else { Verdict::Pass },
        };
        self.last_was_hidden = verdict == Verdict::Hide;
        verdict
    }

    fn event(&mut self, data: &Bytes) -> Verdict {
        if data.is_empty() {
            return Verdict::Pass;
        }
        if data.trim_ascii() == b"[DONE]" {
            self.done = true;
            return Verdict::Done;
        }
        let Ok(chunk) = serde_json::from_slice::<Chunk<'_>>(data) else {
            // Of another shape than a chunk: relayed all the same, and its text counted as words.
            let text = String::from_utf8_lossy(data);
            self.choice(0).count.push(&text);
            return Verdict::Pass;
        };
        if let Some(error) = chunk.error.filter(|error| error.get() != "null") {
            self.error = Some(message_of(error.get()));
        }
        let reported = chunk.usage.filter(|usage| usage.get() != "null");
        if let Some(usage) = reported
            && let Ok(value) = serde_json::from_str(usage.get())
            && let Some(usage) = usage::from_openai(&value)
        {
            self.usage = Some(usage); // cumulative: the last one counts, never a sum
        }
        if self.head.is_none() {
            self.head = chunk.head();
        }
        let choices = chunk.choices.unwrap_or_default();
        let only_usage = choices.is_empty() && reported.is_some() && chunk.error.is_none();
        self.has_final_usage |= only_usage;
        for choice in choices {
            self.count(choice);
        }
        if only_usage && self.hide_usage { Verdict::Hide } else { Verdict::Pass }
    }

    fn count(&mut self, part: ChoicePart<'_>) {
        let choice = self.choice(part.index);
        choice.finished |= part.finish_reason.is_some();
        if let Some(text) = &part.text {
            choice.count.push(text);
        }
        let Some(delta) = part.delta else { return };
        for words in [delta.content, delta.reasoning_content, delta.reasoning].into_iter().flatten() {
            push_words(&mut choice.count, words.get());
        }
        if let Some(refusal) = &delta.refusal {
            choice.count.push(refusal);
        }
        let called = delta.tool_calls.into_iter().flatten().filter_map(|call| call.function).chain(delta.function_call);
        for function in called {
            if let Some(name) = &function.name {
                choice.count.add(PER_TOOL_CALL);
                choice.count.push(name);
            }
            if let Some(arguments) = function.arguments {
                push_words(&mut choice.count, arguments.get());
            }
        }
    }

    fn choice(&mut self, index: u64) -> &mut Choice {
        let found = self.choices.iter().position(|choice| choice.index == index);
        let at = match found {
            Some(at) => at,
            None if self.choices.len() < CHOICES_MAX => {
                let count = RunningCount::new(Arc::clone(&self.tokenizer));
                self.choices.push(Choice { index, count, finished: false });
                self.choices.len() - 1
            }
            None => CHOICES_MAX - 1,
        };
        &mut self.choices[at]
    }

    /// Tokens of all choices so far, at least: cheap, a byte not yet counted is taken for a token.
    #[must_use]
    pub fn tokens_upper_bound(&self) -> u64 {
        self.choices.iter().map(|choice| choice.count.upper_bound()).fold(0, u64::saturating_add)
    }

    /// Tokens of all choices so far.
    pub fn tokens(&mut self) -> u64 {
        self.choices.iter_mut().map(|choice| choice.count.exact()).fold(0, u64::saturating_add)
    }

    /// The usage the upstream reported last.
    #[must_use]
    pub const fn usage(&self) -> Option<Usage> {
        self.usage
    }

    /// The error the upstream reported inside its stream.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// True once a word, a finish or a usage report came: the upstream did serve.
    #[must_use]
    pub fn has_answer(&self) -> bool {
        !self.choices.is_empty() || self.usage.is_some() || self.has_parts
    }

    /// True once the stream said that it is complete.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.done
            || self.has_final_usage
            || (!self.choices.is_empty() && self.choices.iter().all(|choice| choice.finished))
    }

    /// True if events passed that were too large to count.
    #[must_use]
    pub const fn has_parts(&self) -> bool {
        self.has_parts
    }

    /// The model as the upstream named it.
    #[must_use]
    pub fn served_model(&self) -> Option<&str> {
        self.head.as_ref().map(|head| head.model.as_str()).filter(|model| !model.is_empty())
    }

    /// The events with which the gateway ends a stream itself: `finish_reason` `length`, usage, `[DONE]`.
    #[must_use]
    pub fn ending(&self, stopped: Stopped, usage: &Usage, fallback_id: &str, model: &str, now: i64) -> Bytes {
        let head = self.head.clone().unwrap_or_else(|| Head {
            id: format!("chatcmpl-{fallback_id}"),
            created: now,
            model: model.to_owned(),
        });
        let open: Vec<u64> = self.choices.iter().filter(|choice| !choice.finished).map(|choice| choice.index).collect();
        let open = if open.is_empty() { vec![0] } else { open };
        let choices: Vec<_> =
            open.iter().map(|index| json!({"index": index, "delta": {}, "finish_reason": "length"})).collect();
        let usage = json!({
            "prompt_tokens": usage.prompt_tokens(),
            "completion_tokens": usage.completion_tokens(),
            "total_tokens": usage.total_tokens(),
        });
        let mut chunk = json!({
            "id": head.id, "object": "chat.completion.chunk", "created": head.created, "model": head.model,
            "choices": choices, "x_tollgate": {"stopped": stopped.as_str()},
        });
        let mut text = String::new();
        if self.hide_usage {
            chunk["usage"] = usage;
            text.push_str(&format!("data: {chunk}\n\n"));
        } else {
            text.push_str(&format!("data: {chunk}\n\n"));
            chunk["choices"] = json!([]);
            chunk["usage"] = usage;
            text.push_str(&format!("data: {chunk}\n\n"));
        }
        text.push_str("data: [DONE]\n\n");
        Bytes::from(text)
    }
}

/// Appends the words of a JSON value: a string's text, else (parts of a provider's own) the JSON itself.
fn push_words(count: &mut RunningCount, value: &str) {
    if value == "null" {
        return;
    }
    match serde_json::from_str::<String>(value) {
        Ok(text) => count.push(&text),
        Err(_) => count.push(value),
    }
}

/// The message of an error object or text.
fn message_of(error: &str) -> String {
    #[derive(Deserialize)]
    struct Message {
        message: String,
    }
    serde_json::from_str::<Message>(error)
        .map(|error| error.message)
        .or_else(|_| serde_json::from_str::<String>(error))
        .unwrap_or_else(|_| "an error without a message".to_owned())
}

/// The last `"usage": {...}` in the last bytes of an event too large to hold.
fn usage_in_tail(tail: &[u8]) -> Option<Usage> {
    let at = memchr::memmem::rfind(tail, b"\"usage\"")?;
    let after = tail[at + 7..].trim_ascii_start().strip_prefix(b":")?;
    let value = serde_json::Deserializer::from_slice(after).into_iter::<serde_json::Value>().next()?.ok()?;
    usage::from_openai(&value)
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(default)]
    created: Option<serde_json::Number>,
    #[serde(borrow, default)]
    model: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    choices: Option<Vec<ChoicePart<'a>>>,
    #[serde(borrow, default)]
    usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

impl Chunk<'_> {
    fn head(&self) -> Option<Head> {
        let id = self.id.as_deref()?.to_owned();
        let created = self.created.as_ref().and_then(serde_json::Number::as_i64).unwrap_or_default();
        Some(Head { id, created, model: self.model.as_deref().unwrap_or_default().to_owned() })
    }
}

#[derive(Deserialize)]
struct ChoicePart<'a> {
    #[serde(default)]
    index: u64,
    #[serde(borrow, default)]
    delta: Option<Delta<'a>>,
    /// Of text completions.
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    finish_reason: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    reasoning_content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    reasoning: Option<&'a RawValue>,
    #[serde(borrow, default)]
    refusal: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    tool_calls: Option<Vec<ToolCall<'a>>>,
    #[serde(borrow, default)]
    function_call: Option<Function<'a>>,
}

#[derive(Deserialize)]
struct ToolCall<'a> {
    #[serde(borrow, default)]
    function: Option<Function<'a>>,
}

#[derive(Deserialize)]
struct Function<'a> {
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::sse::Splitter;

    fn watch(text: &str, include_usage: bool) -> (Watcher, String) {
        let mut watcher = Watcher::new(Arc::new(Tokenizer::named("o200k_base")), include_usage);
        let mut splitter = Splitter::new(2048);
        let mut pieces = Vec::new();
        for chunk in text.as_bytes().chunks(500) {
            splitter.push(Bytes::copy_from_slice(chunk), &mut pieces);
        }
        pieces.extend(splitter.finish());
        let mut relayed = String::new();
        for piece in &pieces {
            if watcher.see(piece) != Verdict::Hide {
                let (Piece::Event { raw, .. } | Piece::Part { raw, .. } | Piece::Rest(raw)) = piece;
                relayed.push_str(std::str::from_utf8(raw).unwrap());
            }
        }
        (watcher, relayed)
    }

    #[test]
    fn words_of_every_kind_count() {
        let chunk = |delta: &str| format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta}}}]}}\n\n");
        let count = |text: &str| watch(text, false).0.tokens();
        assert_eq!(count(&chunk(r#"{"content":"Hello, world!"}"#)), 4);
        assert_eq!(count(&[chunk(r#"{"content":"Hello, wo"}"#), chunk(r#"{"content":"rld!"}"#)].concat()), 4);
        assert_eq!(count(&chunk(r#"{"reasoning_content":"Hello, world!","content":null}"#)), 4);
        assert_eq!(count(&chunk(r#"{"refusal":"Hello, world!"}"#)), 4);
        assert!(
            count(&chunk(r#"{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{\"a\":1}"}}]}"#))
                > PER_TOOL_CALL + 3
        );
        assert!(count(&chunk(r#"{"content":[{"type":"thinking","text":"Hello"}]}"#)) > 3);
        assert!(count("data: {\"choices\":\"odd\"}\n\n") > 3);
        let two =
            r#"data: {"choices":[{"index":0,"delta":{"content":"Hello"}},{"index":1,"delta":{"content":"Hello"}}]}"#;
        assert_eq!(count(two), 2);
    }

    #[test]
    fn a_usage_chunk_is_hidden_from_who_did_not_ask() {
        let body = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}],\"usage\":null}\n\n";
        let usage = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":4,\"total_tokens\":13}}\r\n\r\n";
        let all = format!("{body}{usage}data: [DONE]\n\n");
        let (watcher, relayed) = watch(&all, false);
        assert_eq!(relayed, format!("{body}data: [DONE]\n\n"));
        assert_eq!(watcher.usage(), Some(Usage::of_tokens(9, 4)));
        assert_eq!(watch(&all, true).1, all);
    }

    #[test]
    fn unusable_usage_is_none_and_zeros_are_zeros() {
        let usage = |usage: &str| watch(&format!("data: {{\"choices\":[],\"usage\":{usage}}}\n\n"), true).0.usage();
        assert_eq!(usage("null"), None);
        assert_eq!(usage("{}"), None);
        assert_eq!(
            usage(r#"{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}"#),
            Some(Usage::of_tokens(0, 0))
        );
    }

    #[test]
    fn usage_is_found_in_an_event_too_large_to_hold() {
        let text = format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{}\"}}}}],\"usage\":{{\"prompt_tokens\":9,\"completion_tokens\":4,\"total_tokens\":13}}}}\n\n",
            "x".repeat(10_000)
        );
        let (watcher, relayed) = watch(&text, false);
        assert_eq!(relayed, text);
        assert_eq!(watcher.usage(), Some(Usage::of_tokens(9, 4)));
        assert!(watcher.has_parts() && watcher.has_answer());
    }

    #[test]
    fn the_gateways_own_ending_is_whole() {
        let text = "data: {\"id\":\"c9\",\"created\":5,\"model\":\"up\",\"choices\":[{\"index\":1,\"delta\":{\"content\":\"a\"}}]}\n\n";
        for include_usage in [false, true] {
            let (watcher, _) = watch(text, include_usage);
            let end = watcher.ending(Stopped::Quota, &Usage::of_tokens(7, 1), "r", "m", 1);
            let end = String::from_utf8(end.to_vec()).unwrap();
            let events: Vec<&str> =
                end.split_terminator("\n\n").map(|event| event.strip_prefix("data: ").unwrap()).collect();
            assert_eq!(events.last(), Some(&"[DONE]"));
            let last: serde_json::Value = serde_json::from_str(events[0]).unwrap();
            assert_eq!(last["choices"], json!([{"index": 1, "delta": {}, "finish_reason": "length"}]));
            assert_eq!((&last["id"], &last["created"], &last["model"]), (&json!("c9"), &json!(5), &json!("up")));
            assert_eq!(last["x_tollgate"], json!({"stopped": "quota"}));
            let with_usage: serde_json::Value = serde_json::from_str(events[events.len() - 2]).unwrap();
            assert_eq!(with_usage["usage"]["total_tokens"], 8);
            assert_eq!(events.len(), if include_usage { 3 } else { 2 });
        }
    }
}
