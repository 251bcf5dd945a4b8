//! Watching a streamed Responses answer.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use domain::usage::{self, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::dialect::watch::{Ending, PER_TOOL_CALL, Verdict, Watch, Words, message_of, usage_in_tail};
use crate::tokens::Tokenizer;
use crate::wire::sse::Piece;

/// Follows one stream.
#[derive(Debug)]
pub struct Watcher {
    words: Words,
    usage: Option<Usage>,
    error: Option<String>,
    /// The response object as the stream announced it.
    head: Option<Value>,
    served_model: Option<String>,
    sequence_number: u64,
    done: bool,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
    #[serde(default)]
    sequence_number: u64,
    #[serde(default)]
    output_index: u64,
    #[serde(borrow, default)]
    delta: Option<&'a RawValue>,
    #[serde(borrow, default)]
    response: Option<&'a RawValue>,
    #[serde(borrow, default)]
    item: Option<&'a RawValue>,
    #[serde(borrow, default)]
    message: Option<Cow<'a, str>>,
}

impl Watcher {
    /// Watches a stream.
    #[must_use]
    pub const fn new(tokenizer: Arc<Tokenizer>) -> Self {
        let words = Words::new(tokenizer);
        Self { words, usage: None, error: None, head: None, served_model: None, sequence_number: 0, done: false }
    }

    fn event(&mut self, data: &Bytes) -> Verdict {
        if data.is_empty() {
            return Verdict::Pass;
        }
        let Ok(event) = serde_json::from_slice::<Event<'_>>(data) else {
            self.words.of(0).push(&String::from_utf8_lossy(data));
            return Verdict::Pass;
        };
        self.sequence_number = self.sequence_number.max(event.sequence_number);
        match event.kind.as_ref() {
            "error" => self.error = Some(event.message.as_deref().unwrap_or("an error without a message").to_owned()),
            "response.created" => {
                let response: Value = parsed(event.response);
                self.served_model = response.get("model").and_then(Value::as_str).map(str::to_owned);
                self.head = Some(response);
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                self.ended(&parsed(event.response));
                return Verdict::Done;
            }
            "response.output_item.added" => {
                let item: Value = parsed(event.item);
                if let Some(name) = item.get("name").and_then(Value::as_str) {
                    self.words.of(event.output_index).add(PER_TOOL_CALL);
                    self.words.of(event.output_index).push(name);
                }
            }
            "response.audio.delta" | "response.output_audio.delta" => {}
            kind if kind.ends_with(".delta") => {
                self.words.push_value(event.output_index, event.delta.map_or("null", RawValue::get));
            }
            _ => {}
        }
        Verdict::Pass
    }

    fn ended(&mut self, response: &Value) {
        self.done = true;
        self.usage = response.get("usage").and_then(usage::from_responses).or(self.usage);
        if let Some(error) = response.get("error").filter(|error| !error.is_null()) {
            self.error = Some(message_of(error));
        }
        if let Some(model) = response.get("model").and_then(Value::as_str) {
            self.served_model = Some(model.to_owned());
        }
    }
}

fn parsed(value: Option<&RawValue>) -> Value {
    value.and_then(|value| serde_json::from_str(value.get()).ok()).unwrap_or_default()
}

impl Watch for Watcher {
    fn see(&mut self, piece: &Piece) -> Verdict {
        match piece {
            Piece::Event { data, .. } => self.event(data),
            Piece::Part { tail, .. } => {
                self.words.note_part();
                // A long answer's last event repeats all of it, with the usage at its end.
                if let Some(usage) =
                    tail.as_ref().and_then(|tail| usage_in_tail(tail)).as_ref().and_then(usage::from_responses)
                {
                    self.usage = Some(usage);
                    self.done = true;
                }
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
        self.usage
    }

    fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    fn has_answer(&self) -> bool {
        !self.words.is_empty() || self.usage.is_some() || (self.done && self.error.is_none())
    }

    fn is_complete(&self) -> bool {
        self.done
    }

    fn served_model(&self) -> Option<&str> {
        self.served_model.as_deref()
    }

    /// `response.incomplete` with `max_output_tokens` as the reason.
    fn ending(&self, ending: Ending<'_>) -> Bytes {
        let mut response = match &self.head {
            Some(Value::Object(head)) => head.clone(),
            _ => Map::from_iter([
                ("id".to_owned(), json!(format!("resp_{}", ending.id))),
                ("object".to_owned(), json!("response")),
                ("created_at".to_owned(), json!(ending.now)),
                ("model".to_owned(), json!(ending.model)),
                ("output".to_owned(), json!([])),
            ]),
        };
        response.insert("status".to_owned(), json!("incomplete"));
        response.insert("incomplete_details".to_owned(), json!({"reason": "max_output_tokens"}));
        let usage = json!({
            "input_tokens": ending.usage.prompt_tokens(), "output_tokens": ending.usage.completion_tokens(),
            "total_tokens": ending.usage.total_tokens(),
        });
        response.insert("usage".to_owned(), usage);
        let event = json!({
            "type": "response.incomplete", "sequence_number": self.sequence_number + 1, "response": response,
            "x_tollgate": {"stopped": ending.stopped.as_str()},
        });
        Bytes::from(format!("event: response.incomplete\ndata: {event}\n\n"))
    }
}

/// Counts a whole answer's words.
#[must_use]
pub fn count(answer: &Map<String, Value>, tokenizer: &Tokenizer) -> u64 {
    let texts = |list: Option<&Value>| -> u64 {
        let parts = list.and_then(Value::as_array).into_iter().flatten();
        parts
            .filter_map(|part| part.get("text").or_else(|| part.get("refusal"))?.as_str())
            .map(|text| tokenizer.count(text))
            .sum()
    };
    let item = |item: &Value| {
        let field = |name: &str| item.get(name).and_then(Value::as_str).map_or(0, |text| tokenizer.count(text));
        let called = if item.get("name").is_some() { PER_TOOL_CALL } else { 0 };
        texts(item.get("content")) + texts(item.get("summary")) + field("arguments") + field("name") + called
    };
    answer.get("output").and_then(Value::as_array).map_or(0, |items| items.iter().map(item).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::watch::Stopped;
    use crate::wire::sse::Splitter;

    fn watch(events: &[Value]) -> Watcher {
        let mut watcher = Watcher::new(Arc::new(Tokenizer::named("o200k_base")));
        let (mut splitter, mut pieces) = (Splitter::new(1024), Vec::new());
        for event in events {
            for chunk in format!("data: {event}\n\n").as_bytes().chunks(300) {
                splitter.push(Bytes::copy_from_slice(chunk), &mut pieces);
            }
        }
        for piece in &pieces {
            watcher.see(piece);
        }
        watcher
    }

    #[test]
    fn words_count_until_the_report_comes() {
        let created = json!({"type": "response.created", "response": {"id": "resp_1", "model": "up", "usage": null}});
        let delta = |text: &str| json!({"type": "response.output_text.delta", "output_index": 0, "delta": text});
        let mut watcher = watch(&[created.clone(), delta("Hello, wo"), delta("rld!")]);
        assert_eq!((watcher.words_mut().exact(), watcher.usage(), watcher.is_complete()), (4, None, false));
        let usage = json!({"input_tokens": 30, "output_tokens": 12, "total_tokens": 42});
        let completed = json!({"type": "response.completed", "response": {"model": "up", "usage": usage}});
        let watcher = watch(&[created.clone(), delta("a"), completed]);
        assert_eq!((watcher.usage(), watcher.is_complete()), (Some(Usage::of_tokens(30, 12)), true));
        let long = json!({"type": "response.completed", "response": {"output": "x".repeat(5_000), "usage": usage}});
        assert_eq!(watch(&[created, delta("a"), long]).usage(), Some(Usage::of_tokens(30, 12)));
    }

    #[test]
    fn failures_and_the_gateways_own_ending() {
        let failed = json!({"type": "response.failed", "response": {"error": {"message": "x"}, "usage": null}});
        let watcher = watch(&[failed]);
        assert_eq!((watcher.error(), watcher.has_answer(), watcher.usage()), (Some("x"), false, None));
        let created =
            json!({"type": "response.created", "sequence_number": 4, "response": {"id": "resp_1", "output": []}});
        let ending = Ending { stopped: Stopped::Quota, usage: Usage::of_tokens(7, 1), id: "r", model: "m", now: 1 };
        let end = watch(&[created]).ending(ending);
        let text = std::str::from_utf8(&end).unwrap();
        let event: Value = serde_json::from_str(text.split_once("data: ").unwrap().1).unwrap();
        assert_eq!((&event["response"]["id"], &event["response"]["status"]), (&json!("resp_1"), &json!("incomplete")));
        assert_eq!((&event["sequence_number"], &event["response"]["usage"]["total_tokens"]), (&json!(5), &json!(8)));
    }
}
