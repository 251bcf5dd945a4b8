//! A chat completion as a message.

use std::borrow::Cow;

use bytes::Bytes;
use domain::usage::Usage;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::translate::{Frame, finish, usage};
use crate::wire::edit::{Object, quote};

#[derive(Deserialize, Default)]
struct Completion<'a> {
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    model: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    choices: Option<Vec<Choice<'a>>>,
}

#[derive(Deserialize, Default)]
struct Choice<'a> {
    #[serde(borrow, default)]
    message: Option<Said<'a>>,
    #[serde(borrow, default)]
    finish_reason: Option<Cow<'a, str>>,
    /// Of servers that tell which stop sequence it was.
    #[serde(default)]
    stop_reason: Value,
}

#[derive(Deserialize, Default)]
struct Said<'a> {
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    refusal: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    tool_calls: Option<Vec<Call<'a>>>,
}

#[derive(Deserialize)]
struct Call<'a> {
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
    arguments: Option<&'a RawValue>,
}

/// Translates a whole reply: its first choice. Reasoning that a server shows unasked is left out; it is charged all the same.
#[must_use]
pub fn translate(body: &[u8], usage: &Usage, frame: &Frame) -> Bytes {
    let completion: Completion<'_> = serde_json::from_slice(body).unwrap_or_default();
    let choice = completion.choices.unwrap_or_default().into_iter().next().unwrap_or_default();
    let said = choice.message.unwrap_or_default();
    let refusal = said.refusal.filter(|refusal| !refusal.is_empty());
    let texts = [said.content.map(text_of).unwrap_or_default(), refusal.as_deref().unwrap_or_default().to_owned()];
    let mut blocks: Vec<String> = texts
        .iter()
        .filter(|text| !text.is_empty())
        .map(|text| json!({"type": "text", "text": text}).to_string())
        .collect();
    let calls = said.tool_calls.unwrap_or_default();
    blocks.extend(calls.iter().enumerate().map(|(index, call)| tool_use(index, call)));
    let stop_sequence = choice.stop_reason.as_str();
    let stop_reason = match (&refusal, stop_sequence) {
        (Some(_), _) => "refusal",
        (None, Some(_)) => "stop_sequence",
        (None, None) => finish::of_message(choice.finish_reason.as_deref().unwrap_or_default(), !calls.is_empty()),
    };
    let id = completion.id.map_or_else(|| format!("msg_{}", frame.id), Cow::into_owned);
    let mut message = Object::default();
    for (name, value) in [
        ("id", quote(&id)),
        ("type", quote("message")),
        ("role", quote("assistant")),
        ("model", quote(completion.model.as_deref().unwrap_or(&frame.model))),
        ("content", format!("[{}]", blocks.join(","))),
        ("stop_reason", quote(stop_reason)),
        ("stop_sequence", stop_sequence.map_or_else(|| "null".to_owned(), quote)),
        ("usage", usage::of_message(usage).to_string()),
    ] {
        message.set(name, value);
    }
    Bytes::from(message.to_text())
}

fn tool_use(index: usize, call: &Call<'_>) -> String {
    let id = call.id.as_deref().map_or_else(|| format!("toolu_{index}"), str::to_owned);
    let function = call.function.as_ref();
    let name = function.and_then(|function| function.name.as_deref()).unwrap_or_default();
    let mut block = Object::default();
    block.set("type", quote("tool_use"));
    block.set("id", quote(&id));
    block.set("name", quote(name));
    block.set("input", function.and_then(|function| function.arguments).map_or_else(|| "{}".to_owned(), input));
    block.to_text()
}

/// Arguments as the object they are the text of. What a model wrote that is no object is kept as the text it is.
fn input(arguments: &RawValue) -> String {
    let text = serde_json::from_str::<String>(arguments.get()).unwrap_or_else(|_| arguments.get().to_owned());
    match serde_json::from_str::<&RawValue>(&text) {
        Ok(object) if object.get().starts_with('{') => object.get().to_owned(),
        _ if text.trim().is_empty() => "{}".to_owned(),
        _ => json!({"arguments": text}).to_string(),
    }
}

/// The text of a content: a string, or parts.
#[must_use]
pub fn text_of(content: &RawValue) -> String {
    match serde_json::from_str(content.get()) {
        Ok(Value::String(text)) => text,
        Ok(Value::Array(parts)) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}
