//! Watching a streamed chat answer or text completion.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use domain::usage::{self, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::dialect::chat::ending::{self, Head};
use crate::dialect::watch::{Ending, PER_TOOL_CALL, Verdict, Watch, Words, message_of, usage_in_tail};
use crate::tokens::Tokenizer;
use crate::wire::sse::Piece;

/// Choices told apart.
const CHOICES_MAX: usize = 128;

/// Follows one stream.
#[derive(Debug)]
pub struct Watcher {
    hide_usage: bool,
    /// Text completions: their chunks have another name, and `text` where chats have `delta`.
    is_text: bool,
    words: Words,
    /// Choices seen, and whether each has finished.
    choices: Vec<(u64, bool)>,
    usage: Option<Usage>,
    error: Option<String>,
    head: Option<Head>,
    last_was_hidden: bool,
    done: bool,
    /// The usage chunk that ends a stream came.
    has_final_usage: bool,
}

impl Watcher {
    /// Watches a chat whose client asked for usage, or did not.
    #[must_use]
    pub const fn new(tokenizer: Arc<Tokenizer>, include_usage: bool) -> Self {
        Self {
            hide_usage: !include_usage,
            is_text: false,
            words: Words::new(tokenizer),
            choices: Vec::new(),
            usage: None,
            error: None,
            head: None,
            last_was_hidden: false,
            done: false,
            has_final_usage: false,
        }
    }

    /// Watches a text completion.
    #[must_use]
    pub const fn of_text(tokenizer: Arc<Tokenizer>, include_usage: bool) -> Self {
        let mut watcher = Self::new(tokenizer, include_usage);
        watcher.is_text = true;
        watcher
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
            self.words.of(0).push(&String::from_utf8_lossy(data));
            return Verdict::Pass;
        };
        if let Some(error) = chunk.error.filter(|error| error.get() != "null") {
            self.error = Some(message_of(&serde_json::from_str(error.get()).unwrap_or_default()));
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
        let index = part.index;
        self.note(index, part.finish_reason.is_some());
        if let Some(text) = &part.text {
            self.words.of(index).push(text);
        }
        let Some(delta) = part.delta else { return };
        for words in [delta.content, delta.reasoning_content, delta.reasoning].into_iter().flatten() {
            self.words.push_value(index, words.get());
        }
        if let Some(refusal) = &delta.refusal {
            self.words.of(index).push(refusal);
        }
        let called = delta.tool_calls.into_iter().flatten().filter_map(|call| call.function).chain(delta.function_call);
        for function in called {
            if let Some(name) = &function.name {
                self.words.of(index).add(PER_TOOL_CALL);
                self.words.of(index).push(name);
            }
            if let Some(arguments) = function.arguments {
                self.words.push_value(index, arguments.get());
            }
        }
    }

    fn note(&mut self, index: u64, finished: bool) {
        if let Some((_, has_finished)) = self.choices.iter_mut().find(|(choice, _)| *choice == index) {
            *has_finished |= finished;
        } else if self.choices.len() < CHOICES_MAX {
            self.choices.push((index, finished));
        }
    }
}

impl Watch for Watcher {
    fn see(&mut self, piece: &Piece) -> Verdict {
        let verdict = match piece {
            Piece::Event { data, .. } => self.event(data),
            Piece::Part { tail, .. } => {
                self.words.note_part();
                let reported = tail.as_ref().and_then(|tail| usage_in_tail(tail));
                self.usage = reported.as_ref().and_then(usage::from_openai).or(self.usage);
                Verdict::Pass
            }
            Piece::Rest(_) => return if self.last_was_hidden { Verdict::Hide } else { Verdict::Pass },
        };
        self.last_was_hidden = verdict == Verdict::Hide;
        verdict
    }

    fn words(&self) -> &Words {
        &self.words
    }

    fn words_mut(&mut self) -> &mut Words {
        &mut self.words
    }

    fn usage(&self) -> Option<Usage> {
        self.usage
    }

    fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    fn has_answer(&self) -> bool {
        !self.choices.is_empty() || !self.words.is_empty() || self.usage.is_some()
    }

    fn is_complete(&self) -> bool {
        let all_finished = !self.choices.is_empty() && self.choices.iter().all(|(_, finished)| *finished);
        self.done || self.has_final_usage || all_finished
    }

    fn served_model(&self) -> Option<&str> {
        self.head.as_ref().map(|head| head.model.as_str()).filter(|model| !model.is_empty())
    }

    /// `finish_reason` `length`, usage, `[DONE]`.
    fn ending(&self, ending: Ending<'_>) -> Bytes {
        let head = self.head.clone().unwrap_or_else(|| Head {
            id: format!("chatcmpl-{}", ending.id),
            created: ending.now,
            model: ending.model.to_owned(),
        });
        let open: Vec<u64> = self.choices.iter().filter(|(_, finished)| !finished).map(|(index, _)| *index).collect();
        let open = if open.is_empty() { vec![0] } else { open };
        let write = if self.is_text { ending::text } else { ending::chat };
        write(&head, &open, self.hide_usage, ending)
    }
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
    use serde_json::json;

    use crate::dialect::watch::Stopped;
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
        let count = |text: &str| watch(text, false).0.words_mut().exact();
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
        assert!(watcher.words().has_parts() && watcher.has_answer());
    }

    #[test]
    fn the_gateways_own_ending_is_whole() {
        let text = "data: {\"id\":\"c9\",\"created\":5,\"model\":\"up\",\"choices\":[{\"index\":1,\"delta\":{\"content\":\"a\"}}]}\n\n";
        for include_usage in [false, true] {
            let (watcher, _) = watch(text, include_usage);
            let end = watcher.ending(Ending {
                stopped: Stopped::Quota,
                usage: Usage::of_tokens(7, 1),
                id: "r",
                model: "m",
                now: 1,
            });
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
