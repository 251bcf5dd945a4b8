//! A message as a chat completion.

use std::borrow::Cow;

use bytes::Bytes;
use domain::usage::Usage;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::translate::{Frame, finish, usage};

#[derive(Deserialize, Default)]
struct Message<'a> {
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    model: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    content: Option<Vec<Block<'a>>>,
    #[serde(borrow, default)]
    stop_reason: Option<Cow<'a, str>>,
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

/// Translates a whole reply. Blocks that were not asked for, such as thinking, are left out; they are charged all the same.
#[must_use]
pub fn translate(body: &[u8], usage: &Usage, frame: &Frame) -> Bytes {
    let message: Message<'_> = serde_json::from_slice(body).unwrap_or_default();
    let blocks = message.content.unwrap_or_default();
    let texts: String =
        blocks.iter().filter(|block| block.kind == "text").filter_map(|block| block.text.as_deref()).collect();
    let calls: Vec<Value> = blocks
        .iter()
        .filter(|block| block.kind == "tool_use")
        .enumerate()
        .map(|(index, block)| call(index, block))
        .collect();
    let content = if texts.is_empty() && !calls.is_empty() { Value::Null } else { texts.into() };
    let mut said = json!({"role": "assistant", "content": content, "refusal": null});
    if !calls.is_empty() {
        said["tool_calls"] = calls.into();
    }
    let finish_reason = finish::of_chat(message.stop_reason.as_deref().unwrap_or_default());
    let id = message.id.map_or_else(|| format!("chatcmpl-{}", frame.id), Cow::into_owned);
    let completion = json!({
        "id": id, "object": "chat.completion", "created": frame.now,
        "model": message.model.as_deref().unwrap_or(&frame.model),
        "choices": [{"index": 0, "message": said, "logprobs": null, "finish_reason": finish_reason}],
        "usage": usage::of_chat(usage),
    });
    Bytes::from(completion.to_string())
}

fn call(index: usize, block: &Block<'_>) -> Value {
    let id = block.id.as_deref().map_or_else(|| format!("call_{index}"), str::to_owned);
    let arguments = block.input.map_or("{}", RawValue::get);
    json!({"id": id, "type": "function", "function": {"name": block.name, "arguments": arguments}})
}
