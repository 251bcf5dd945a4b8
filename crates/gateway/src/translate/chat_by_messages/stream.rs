//! A message's stream as a chat's chunks.

use std::borrow::Cow;
use std::fmt::Write as _;

use bytes::Bytes;
use domain::usage::Usage;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::dialect::chat::ending::{self, Head};
use crate::dialect::watch::{Ending, message_of};
use crate::translate::{Content, Frame, Translate, UNREADABLE, content_of, finish, usage};
use crate::wire::sse::Piece;

/// Translates one stream.
#[derive(Debug)]
pub struct Stream {
    head: Head,
    include_usage: bool,
    started: bool,
    tools: u64,
    /// The call that is being written, and whether any of its arguments came.
    call: Option<(u64, bool)>,
    stop_reason: Option<String>,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    message: Option<Message<'a>>,
    #[serde(borrow, default)]
    content_block: Option<Block<'a>>,
    #[serde(borrow, default)]
    delta: Option<Delta<'a>>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    model: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    partial_json: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    stop_reason: Option<Cow<'a, str>>,
}

impl Stream {
    /// Nothing came yet.
    #[must_use]
    pub fn new(frame: Frame) -> Self {
        let head = Head { id: format!("chatcmpl-{}", frame.id), created: frame.now, model: frame.model };
        let include_usage = frame.include_usage;
        Self { head, include_usage, started: false, tools: 0, call: None, stop_reason: None }
    }

    fn chunk(&self, out: &mut String, delta: &Value, finish_reason: Option<&str>) {
        let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason});
        self.write(out, json!([choice]), None);
    }

    fn write(&self, out: &mut String, choices: Value, usage: Option<Value>) {
        let head = &self.head;
        let mut chunk = json!({
            "id": head.id, "object": "chat.completion.chunk", "created": head.created, "model": head.model, "choices": choices,
        });
        if self.include_usage {
            chunk["usage"] = usage.unwrap_or_default();
        }
        let _ = write!(out, "data: {chunk}\n\n");
    }

    fn start(&mut self, message: Option<Message<'_>>, out: &mut String) {
        if self.started {
            return;
        }
        self.started = true;
        if let Some(message) = message {
            self.head.id = message.id.map_or_else(|| std::mem::take(&mut self.head.id), Cow::into_owned);
            self.head.model = message.model.map_or_else(|| std::mem::take(&mut self.head.model), Cow::into_owned);
        }
        self.chunk(out, &json!({"role": "assistant", "content": "", "refusal": null}), None);
    }

    fn open(&mut self, block: &Block<'_>, out: &mut String) {
        match block.kind.as_ref() {
            "text" => self.text(block.text.as_deref(), out),
            "tool_use" => {
                let index = self.tools;
                self.tools += 1;
                let id = block.id.as_deref().map_or_else(|| format!("call_{index}"), str::to_owned);
                // Usually an empty object, whose text comes in deltas.
                let whole = block.input.map(RawValue::get).filter(|input| !is_empty_object(input));
                let function = json!({"name": block.name, "arguments": whole.unwrap_or_default()});
                let call = json!({"index": index, "id": id, "type": "function", "function": function});
                self.call = Some((index, whole.is_some()));
                self.chunk(out, &json!({"tool_calls": [call]}), None);
            }
            _ => {}
        }
    }

    fn text(&self, text: Option<&str>, out: &mut String) {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.chunk(out, &json!({"content": text}), None);
        }
    }

    fn arguments(&mut self, text: &str, out: &mut String) {
        if let Some((index, has_arguments)) = self.call.as_mut().filter(|_| !text.is_empty()) {
            *has_arguments = true;
            let call = json!({"index": *index, "function": {"arguments": text}});
            self.chunk(out, &json!({"tool_calls": [call]}), None);
        }
    }

    /// A call without arguments has an empty object, which the stream of a message leaves out.
    fn close(&mut self, out: &mut String) {
        if matches!(self.call, Some((_, false))) {
            self.arguments("{}", out);
        }
        self.call = None;
    }

    fn event(&mut self, event: Event<'_>, out: &mut String) -> Result<(), String> {
        match event.kind.as_ref() {
            "ping" => out.push_str(": ping\n\n"),
            "error" => {
                let error = event.error.and_then(|error| serde_json::from_str::<Value>(error.get()).ok());
                return Err(message_of(&error.unwrap_or_default()));
            }
            "message_start" => self.start(event.message, out),
            "content_block_start" => {
                self.start(None, out);
                if let Some(block) = &event.content_block {
                    self.open(block, out);
                }
            }
            "content_block_delta" => {
                self.start(None, out);
                let Some(delta) = event.delta else { return Ok(()) };
                self.text(delta.text.as_deref(), out);
                self.arguments(delta.partial_json.as_deref().unwrap_or_default(), out);
            }
            "content_block_stop" => self.close(out),
            "message_delta" => {
                let reason = event.delta.and_then(|delta| delta.stop_reason);
                self.stop_reason = reason.map(Cow::into_owned).or_else(|| self.stop_reason.take());
            }
            _ => {}
        }
        Ok(())
    }
}

impl Translate for Stream {
    fn piece(&mut self, piece: &Piece) -> Result<Bytes, String> {
        let data = match content_of(piece)? {
            Content::Data(data) => data,
            Content::Comment => return Ok(Bytes::from_static(b": ping\n\n")),
            Content::Nothing => return Ok(Bytes::new()),
        };
        let event = serde_json::from_slice(data).map_err(|_| UNREADABLE.to_owned())?;
        let mut out = String::new();
        self.event(event, &mut out)?;
        Ok(Bytes::from(out))
    }

    fn end(&mut self, usage: &Usage) -> Bytes {
        let mut out = String::new();
        self.start(None, &mut out);
        self.close(&mut out);
        let reason = finish::of_chat(self.stop_reason.as_deref().unwrap_or_default());
        self.chunk(&mut out, &json!({}), Some(reason));
        if self.include_usage {
            self.write(&mut out, json!([]), Some(usage::of_chat(usage)));
        }
        out.push_str("data: [DONE]\n\n");
        Bytes::from(out)
    }

    fn stop(&self, ending: Ending<'_>) -> Bytes {
        ending::chat(&self.head, &[0], !self.include_usage, ending)
    }
}

fn is_empty_object(text: &str) -> bool {
    text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).is_some_and(|inside| inside.trim().is_empty())
}
