//! Watching a streamed Messages answer.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use domain::usage::{AnthropicStream, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::dialect::messages::ending;
use crate::dialect::watch::{Ending, PER_TOOL_CALL, Verdict, Watch, Words, message_of};
use crate::tokens::Tokenizer;
use crate::wire::sse::Piece;

/// Follows one stream.
#[derive(Debug)]
pub struct Watcher {
    words: Words,
    usage: AnthropicStream,
    error: Option<String>,
    served_model: Option<String>,
    started: bool,
    open_block: Option<u64>,
    has_block: bool,
    done: bool,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
    #[serde(default)]
    index: u64,
    #[serde(borrow, default)]
    delta: Option<Block<'a>>,
    #[serde(borrow, default)]
    content_block: Option<Block<'a>>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    thinking: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    partial_json: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
}

impl Watcher {
    /// Watches a stream.
    #[must_use]
    pub fn new(tokenizer: Arc<Tokenizer>) -> Self {
        Self {
            words: Words::new(tokenizer),
            usage: AnthropicStream::default(),
            error: None,
            served_model: None,
            started: false,
            open_block: None,
            has_block: false,
            done: false,
        }
    }

    fn event(&mut self, data: &Bytes) -> Verdict {
        if data.is_empty() {
            return Verdict::Pass;
        }
        let Ok(event) = serde_json::from_slice::<Event<'_>>(data) else {
            self.words.of(0).push(&String::from_utf8_lossy(data));
            return Verdict::Pass;
        };
        match event.kind.as_ref() {
            "message_start" => {
                let whole: Value = serde_json::from_slice(data).unwrap_or_default();
                self.started = true;
                self.served_model = whole["message"]["model"].as_str().map(str::to_owned);
                self.usage.event(&whole);
            }
            "message_delta" => self.usage.event(&serde_json::from_slice(data).unwrap_or_default()),
            "content_block_start" => {
                self.has_block = true;
                self.open_block = Some(event.index);
                self.count(event.content_block);
            }
            "content_block_delta" => self.count(event.delta),
            "content_block_stop" => self.open_block = None,
            "message_stop" => {
                self.done = true;
                return Verdict::Done;
            }
            "error" => {
                let error = event.error.and_then(|error| serde_json::from_str::<Value>(error.get()).ok());
                self.error = Some(message_of(&error.unwrap_or_default()));
            }
            _ => {}
        }
        Verdict::Pass
    }

    fn count(&mut self, block: Option<Block<'_>>) {
        let Some(block) = block else { return };
        if let Some(name) = &block.name {
            self.words.of(0).add(PER_TOOL_CALL);
            self.words.of(0).push(name);
        }
        for words in [block.text, block.thinking, block.partial_json].into_iter().flatten() {
            self.words.of(0).push(&words);
        }
    }
}

impl Watch for Watcher {
    fn see(&mut self, piece: &Piece) -> Verdict {
        match piece {
            Piece::Event { data, .. } => self.event(data),
            Piece::Part { .. } => {
                self.words.note_part();
                Verdict::Pass
            }
            Piece::Rest(_) => Verdict::Pass,
        }
    }

    fn words(&self) -> &Words {
        &self.words
    }

    fn words_mut(&mut self) -> &mut Words {
        &mut self.words
    }

    fn usage(&self) -> Option<Usage> {
        self.usage.usage().filter(|_| self.usage.is_complete())
    }

    fn reported_prompt(&self) -> Option<Usage> {
        self.usage.usage().map(|usage| Usage { output: 0, ..usage })
    }

    fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    fn has_answer(&self) -> bool {
        self.started || self.has_block || !self.words.is_empty()
    }

    fn is_complete(&self) -> bool {
        self.done || self.usage.is_complete()
    }

    fn served_model(&self) -> Option<&str> {
        self.served_model.as_deref()
    }

    fn ending(&self, ending: Ending<'_>) -> Bytes {
        ending::message(self.started, self.open_block, ending)
    }
}

/// Counts a whole answer's words.
#[must_use]
pub fn count(answer: &Map<String, Value>, tokenizer: &Tokenizer) -> u64 {
    let block = |block: &Value| {
        let field = |name: &str| block.get(name).and_then(Value::as_str).map_or(0, |text| tokenizer.count(text));
        let input = block.get("input").map_or(0, |input| tokenizer.count(&input.to_string()) + PER_TOOL_CALL);
        field("text") + field("thinking") + field("name") + input
    };
    answer.get("content").and_then(Value::as_array).map_or(0, |blocks| blocks.iter().map(block).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    use crate::dialect::watch::Stopped;

    fn watch(events: &[Value]) -> Watcher {
        let mut watcher = Watcher::new(Arc::new(Tokenizer::named("o200k_base")));
        for event in events {
            watcher.see(&Piece::Event { raw: Bytes::new(), data: Bytes::from(event.to_string()) });
        }
        watcher
    }

    fn start() -> Value {
        let usage = json!({"input_tokens": 25, "cache_read_input_tokens": 100, "output_tokens": 1});
        json!({"type": "message_start", "message": {"model": "up", "usage": usage}})
    }

    fn delta(text: &str) -> Value {
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}})
    }

    #[test]
    fn the_prompts_figure_comes_first_and_the_answers_last() {
        let mut watcher = watch(&[start(), delta("Hello, wo"), delta("rld!")]);
        assert_eq!((watcher.usage(), watcher.words_mut().exact()), (None, 4));
        let prompt = watcher.reported_prompt().unwrap();
        assert_eq!((prompt.input, prompt.cached_input, prompt.output), (25, 100, 0));
        let end =
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 15}});
        let watcher = watch(&[start(), delta("a"), end]);
        assert_eq!(watcher.usage().unwrap().output, 15);
        assert!(watcher.is_complete());
    }

    #[test]
    fn the_gateways_own_ending_closes_the_open_block() {
        let block = json!({"type": "content_block_start", "index": 3, "content_block": {"type": "text", "text": ""}});
        let ending = Ending { stopped: Stopped::Quota, usage: Usage::of_tokens(7, 1), id: "r", model: "m", now: 1 };
        let end = watch(&[start(), block]).ending(ending);
        let text = std::str::from_utf8(&end).unwrap();
        let names: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
        assert_eq!(names, ["content_block_stop", "message_delta", "message_stop"]);
        assert!(text.contains(r#""index":3"#) && text.contains(r#""stop_reason":"max_tokens""#));
        let whole = watch(&[]).ending(ending);
        assert!(whole.starts_with(b"event: message_start"));
    }
}
