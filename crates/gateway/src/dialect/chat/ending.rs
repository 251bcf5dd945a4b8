//! The end of a chat's or text completion's stream, where the gateway writes it.

use std::fmt::Write as _;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::dialect::watch::Ending;

/// What all chunks of a stream have in common.
#[derive(Debug, Clone)]
pub struct Head {
    /// The answer's id.
    pub id: String,
    /// Seconds of Unix time.
    pub created: i64,
    /// The model as the upstream named it.
    pub model: String,
}

/// `finish_reason` `length` for the choices that are open, usage (in the same chunk for a client that asked for none), `[DONE]`.
#[must_use]
pub fn chat(head: &Head, open: &[u64], hide_usage: bool, ending: Ending<'_>) -> Bytes {
    let choice = |index: &u64| json!({"index": index, "delta": {}, "finish_reason": "length"});
    write("chat.completion.chunk", head, open.iter().map(choice).collect(), hide_usage, ending)
}

/// The same for a text completion.
#[must_use]
pub fn text(head: &Head, open: &[u64], hide_usage: bool, ending: Ending<'_>) -> Bytes {
    let choice = |index: &u64| json!({"index": index, "text": "", "logprobs": null, "finish_reason": "length"});
    write("text_completion", head, open.iter().map(choice).collect(), hide_usage, ending)
}

fn write(object: &str, head: &Head, choices: Vec<Value>, hide_usage: bool, ending: Ending<'_>) -> Bytes {
    let mut chunk = json!({
        "id": head.id, "object": object, "created": head.created, "model": head.model, "choices": choices,
        "x_tollgate": {"stopped": ending.stopped.as_str()},
    });
    let usage = json!({
        "prompt_tokens": ending.usage.prompt_tokens(), "completion_tokens": ending.usage.completion_tokens(),
        "total_tokens": ending.usage.total_tokens(),
    });
    let mut text = String::new();
    if hide_usage {
        chunk["usage"] = usage;
        let _ = write!(text, "data: {chunk}\n\n");
    } else {
        let _ = write!(text, "data: {chunk}\n\n");
        chunk["choices"] = json!([]);
        chunk["usage"] = usage;
        let _ = write!(text, "data: {chunk}\n\n");
    }
    text.push_str("data: [DONE]\n\n");
    Bytes::from(text)
}
