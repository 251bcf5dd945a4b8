//! A chat's chunks as a message's stream.

use std::borrow::Cow;

use bytes::Bytes;
use domain::usage::Usage;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::reply::text_of;
use crate::dialect::messages::ending::{self, event};
use crate::dialect::watch::{Ending, message_of};
use crate::translate::{Content, Frame, Translate, UNREADABLE, content_of, finish, usage};
use crate::wire::sse::Piece;

/// Translates one stream: its first choice.
#[derive(Debug)]
pub struct Stream {
    frame: Frame,
    started: bool,
    /// Blocks begun.
    blocks: u64,
    open: Option<Open>,
    /// Calls seen, by the upstream's index.
    calls: Vec<u64>,
    refused: bool,
    finish_reason: Option<String>,
    stop_sequence: Option<String>,
}

/// The block that is being written; it is always the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Text,
    Call(u64),
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    model: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(default)]
    index: u64,
    #[serde(borrow, default)]
    delta: Option<Delta<'a>>,
    #[serde(borrow, default)]
    finish_reason: Option<Cow<'a, str>>,
    #[serde(default)]
    stop_reason: Value,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    refusal: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    tool_calls: Option<Vec<Call<'a>>>,
}

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(default)]
    index: u64,
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    function: Option<Function<'a>>,
}

#[derive(Deserialize)]
struct Function<'a> {
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    arguments: Option<Cow<'a, str>>,
}

impl Stream {
    /// Nothing came yet.
    #[must_use]
    pub const fn new(frame: Frame) -> Self {
        Self {
            frame,
            started: false,
            blocks: 0,
            open: None,
            calls: Vec::new(),
            refused: false,
            finish_reason: None,
            stop_sequence: None,
        }
    }

    fn start(&mut self, id: Option<&str>, model: Option<&str>, out: &mut String) {
        if self.started {
            return;
        }
        self.started = true;
        let id = id.map_or_else(|| format!("msg_{}", self.frame.id), str::to_owned);
        // The local count: the upstream tells its own at the end, and so does `message_delta`.
        let usage = usage::of_message(&Usage::of_tokens(self.frame.prompt_tokens, 0));
        ending::start(out, &id, model.unwrap_or(&self.frame.model), &usage);
    }

    fn close(&mut self, out: &mut String) {
        if self.open.take().is_some() {
            event(out, &json!({"type": "content_block_stop", "index": self.blocks.saturating_sub(1)}));
        }
    }

    fn begin(&mut self, open: Open, block: &Value, out: &mut String) {
        self.close(out);
        self.open = Some(open);
        event(out, &json!({"type": "content_block_start", "index": self.blocks, "content_block": block}));
        self.blocks += 1;
    }

    fn delta(&self, delta: &Value, out: &mut String) {
        event(out, &json!({"type": "content_block_delta", "index": self.blocks.saturating_sub(1), "delta": delta}));
    }

    fn text(&mut self, text: &str, out: &mut String) {
        if text.is_empty() {
            return;
        }
        if self.open != Some(Open::Text) {
            self.begin(Open::Text, &json!({"type": "text", "text": ""}), out);
        }
        self.delta(&json!({"type": "text_delta", "text": text}), out);
    }

    fn call(&mut self, call: &Call<'_>, out: &mut String) -> Result<(), String> {
        let function = call.function.as_ref();
        if self.open != Some(Open::Call(call.index)) {
            if self.calls.contains(&call.index) {
                // Its block is closed: a message's blocks come one after the other.
                return Err("parallel calls whose parts are mixed".to_owned());
            }
            self.calls.push(call.index);
            let id = call.id.as_deref().map_or_else(|| format!("toolu_{}", call.index), str::to_owned);
            let name = function.and_then(|function| function.name.as_deref()).unwrap_or_default();
            let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
            self.begin(Open::Call(call.index), &block, out);
        }
        if let Some(text) = function.and_then(|function| function.arguments.as_deref()).filter(|text| !text.is_empty())
        {
            self.delta(&json!({"type": "input_json_delta", "partial_json": text}), out);
        }
        Ok(())
    }

    fn chunk(&mut self, chunk: Chunk<'_>, out: &mut String) -> Result<(), String> {
        if let Some(error) = chunk.error.filter(|error| error.get() != "null") {
            return Err(message_of(&serde_json::from_str(error.get()).unwrap_or_default()));
        }
        self.start(chunk.id.as_deref(), chunk.model.as_deref(), out);
        for choice in chunk.choices.unwrap_or_default().into_iter().filter(|choice| choice.index == 0) {
            if let Some(delta) = choice.delta {
                self.text(&delta.content.map(text_of).unwrap_or_default(), out);
                if let Some(refusal) = delta.refusal.filter(|refusal| !refusal.is_empty()) {
                    self.refused = true;
                    self.text(&refusal, out);
                }
                for call in delta.tool_calls.unwrap_or_default() {
                    self.call(&call, out)?;
                }
            }
            if let Some(reason) = choice.finish_reason {
                self.finish_reason = Some(reason.into_owned());
                self.stop_sequence = choice.stop_reason.as_str().map(str::to_owned);
            }
        }
        Ok(())
    }
}

impl Translate for Stream {
    fn piece(&mut self, piece: &Piece) -> Result<Bytes, String> {
        let data = match content_of(piece)? {
            Content::Data(data) if data.trim_ascii() == b"[DONE]" => return Ok(Bytes::new()),
            Content::Data(data) => data,
            Content::Comment => return Ok(Bytes::from_static(b"event: ping\ndata: {\"type\":\"ping\"}\n\n")),
            Content::Nothing => return Ok(Bytes::new()),
        };
        let chunk = serde_json::from_slice(data).map_err(|_| UNREADABLE.to_owned())?;
        let mut out = String::new();
        self.chunk(chunk, &mut out)?;
        Ok(Bytes::from(out))
    }

    fn end(&mut self, usage: &Usage) -> Bytes {
        let mut out = String::new();
        self.start(None, None, &mut out);
        self.close(&mut out);
        let stop_reason = match (self.refused, &self.stop_sequence) {
            (true, _) => "refusal",
            (false, Some(_)) => "stop_sequence",
            (false, None) => {
                finish::of_message(self.finish_reason.as_deref().unwrap_or_default(), !self.calls.is_empty())
            }
        };
        let delta = json!({"stop_reason": stop_reason, "stop_sequence": self.stop_sequence});
        event(&mut out, &json!({"type": "message_delta", "delta": delta, "usage": usage::of_message(usage)}));
        event(&mut out, &json!({"type": "message_stop"}));
        Bytes::from(out)
    }

    fn stop(&self, ending: Ending<'_>) -> Bytes {
        ending::message(self.started, self.open.map(|_| self.blocks.saturating_sub(1)), ending)
    }
}
