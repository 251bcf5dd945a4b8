//! The end of a message's stream, where the gateway writes it.

use std::fmt::Write as _;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::dialect::watch::Ending;

/// The open block is closed, then `message_delta` with `stop_reason` `max_tokens`, then `message_stop`; before them the stream's
/// start, where it has not `started`.
#[must_use]
pub fn message(started: bool, open_block: Option<u64>, ending: Ending<'_>) -> Bytes {
    let mut text = String::new();
    if !started {
        let usage = json!({"input_tokens": ending.usage.prompt_tokens(), "output_tokens": 0});
        start(&mut text, &format!("msg_{}", ending.id), ending.model, &usage);
    }
    if let Some(index) = open_block {
        event(&mut text, &json!({"type": "content_block_stop", "index": index}));
    }
    let delta = json!({
        "type": "message_delta", "delta": {"stop_reason": "max_tokens", "stop_sequence": null},
        "usage": {"output_tokens": ending.usage.completion_tokens()}, "x_tollgate": {"stopped": ending.stopped.as_str()},
    });
    event(&mut text, &delta);
    event(&mut text, &json!({"type": "message_stop"}));
    Bytes::from(text)
}

/// Writes the `message_start` of an answer that says nothing yet.
pub fn start(text: &mut String, id: &str, model: &str, usage: &Value) {
    let message = json!({
        "id": id, "type": "message", "role": "assistant", "model": model, "content": [], "stop_reason": null,
        "stop_sequence": null, "usage": usage,
    });
    event(text, &json!({"type": "message_start", "message": message}));
}

/// Writes an event named by its type.
pub fn event(text: &mut String, data: &Value) {
    let _ = write!(text, "event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default());
}
