//! A request, whatever its route, in the terms an answer needs.

use serde_json::Value;

use crate::{script::BadScript, tokens::Vocabulary};

/// The shape of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    OpenAi,
    Anthropic,
}

/// A request that a provider would refuse.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub status: u16,
    pub message: String,
}

impl Refusal {
    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self { status: 400, message: message.into() }
    }
}

impl From<BadScript> for Refusal {
    fn from(BadScript(message): BadScript) -> Self {
        Self::bad(message)
    }
}

impl From<std::io::Error> for Refusal {
    fn from(error: std::io::Error) -> Self {
        Self { status: 500, message: format!("the simulated answer could not be rendered: {error}") }
    }
}

/// What was asked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ask {
    pub model: String,
    /// The text that may hold the script: the last user message.
    pub text: String,
    /// Counted prompt tokens.
    pub prompt: u32,
    pub stream: bool,
    pub include_usage: bool,
    pub max_out: Option<u32>,
    pub n: u32,
    /// Names of the tools.
    pub tools: Vec<String>,
    /// What only one route knows.
    pub more: More,
}

/// Fields of single routes.
#[derive(Clone, Debug, Default)]
pub(crate) struct More {
    /// Number of inputs (embeddings) or documents (rerank).
    pub items: Vec<String>,
    /// Length of an embedding; how many documents to return.
    pub size: Option<u32>,
    /// `response_format` or `encoding_format`.
    pub format: String,
    /// `return_documents`.
    pub documents: bool,
    /// Seconds of sound in a transcription's file.
    pub seconds: u32,
}

impl Ask {
    /// The fields that all JSON routes share.
    pub(crate) fn of(body: &Value) -> Result<Self, Refusal> {
        if !body.is_object() {
            return Err(Refusal::bad("the body must be a JSON object"));
        }
        let Some(model) = body.get("model").and_then(Value::as_str).filter(|model| !model.is_empty()) else {
            return Err(Refusal::bad("you must provide a model parameter"));
        };
        Ok(Self {
            model: model.to_owned(),
            stream: flag(body, "stream")?,
            include_usage: body.pointer("/stream_options/include_usage").and_then(Value::as_bool).unwrap_or(false),
            n: number(body, "n")?.unwrap_or(1).clamp(1, 128),
            ..Self::default()
        })
    }

    /// The model's vocabulary.
    pub(crate) fn vocabulary(&self) -> Vocabulary {
        Vocabulary::of_model(&self.model)
    }
}

/// A whole number that may be missing or null.
pub(crate) fn number(body: &Value, name: &str) -> Result<Option<u32>, Refusal> {
    match body.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value
            .as_u64()
            .and_then(|n| u32::try_from(n).ok())
            .map(Some)
            .ok_or_else(|| Refusal::bad(format!("'{name}' must be a whole number that is not negative"))),
    }
}

/// A boolean that may be missing or null.
pub(crate) fn flag(body: &Value, name: &str) -> Result<bool, Refusal> {
    match body.get(name) {
        None | Some(Value::Null) => Ok(false),
        Some(value) => value.as_bool().ok_or_else(|| Refusal::bad(format!("'{name}' must be true or false"))),
    }
}

/// A text that may be missing.
pub(crate) fn text<'a>(body: &'a Value, name: &str) -> &'a str {
    body.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The text of a message's content: a string or parts.
pub(crate) fn content_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<_> = parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

/// Tokens of a message's content: texts by the vocabulary; an image 85 (detail low) or 765; sound one per 2 400
/// characters of its base64 text; anything else by its JSON text.
fn content_tokens(content: &Value, vocabulary: Vocabulary) -> u32 {
    match content {
        Value::Null => 0,
        Value::String(text) => vocabulary.count(text),
        Value::Array(parts) => parts.iter().map(|part| part_tokens(part, vocabulary)).sum(),
        other => vocabulary.count(&other.to_string()),
    }
}

fn part_tokens(part: &Value, vocabulary: Vocabulary) -> u32 {
    if let Some(text) = part.get("text").and_then(Value::as_str) {
        return vocabulary.count(text);
    }
    match text(part, "type") {
        "image_url" | "input_image" | "image" => {
            let detail = part.pointer("/image_url/detail").or_else(|| part.get("detail")).and_then(Value::as_str);
            if detail == Some("low") { 85 } else { 765 }
        }
        "input_audio" => {
            let data = part.pointer("/input_audio/data").and_then(Value::as_str).unwrap_or_default();
            u32::try_from(data.len().div_ceil(2_400)).unwrap_or(u32::MAX)
        }
        _ => vocabulary.count(&part.to_string()),
    }
}

/// Tokens of messages, by the published rule: 3 for each and 3 for the answer's start, 1 more for a name.
pub(crate) fn messages_tokens(messages: &[Value], vocabulary: Vocabulary) -> u32 {
    let each = messages.iter().map(|message| {
        let mut tokens = 3 + vocabulary.count(text(message, "role"));
        tokens += message.get("content").map_or(0, |content| content_tokens(content, vocabulary));
        if let Some(name) = message.get("name").and_then(Value::as_str) {
            tokens += 1 + vocabulary.count(name);
        }
        if let Some(calls) = message.get("tool_calls") {
            tokens += vocabulary.count(&calls.to_string());
        }
        tokens
    });
    3 + each.sum::<u32>()
}

/// Tokens of tool definitions: those of their JSON text.
pub(crate) fn tools_tokens(body: &Value, vocabulary: Vocabulary) -> u32 {
    match body.get("tools") {
        Some(Value::Array(tools)) if !tools.is_empty() => {
            tools.iter().map(|tool| vocabulary.count(&tool.to_string())).sum()
        }
        _ => 0,
    }
}

/// The names of the tools, each found at `pointer` inside its definition.
pub(crate) fn tool_names(body: &Value, pointer: &str) -> Vec<String> {
    let tools = body.get("tools").and_then(Value::as_array).into_iter().flatten();
    tools.filter_map(|tool| tool.pointer(pointer).and_then(Value::as_str)).map(str::to_owned).collect()
}

/// The text of the last user message.
pub(crate) fn last_user_text(messages: &[Value]) -> String {
    messages
        .iter()
        .rev()
        .find(|message| text(message, "role") == "user")
        .and_then(|message| message.get("content"))
        .map(content_text)
        .unwrap_or_default()
}

/// The `messages` of a chat.
pub(crate) fn messages(body: &Value) -> Result<&[Value], Refusal> {
    match body.get("messages") {
        Some(Value::Array(messages)) if !messages.is_empty() => Ok(messages),
        Some(Value::Array(_)) => Err(Refusal::bad("'messages' is too short: at least one message is needed")),
        Some(_) => Err(Refusal::bad("'messages' must be an array")),
        None => Err(Refusal::bad("missing required parameter: 'messages'")),
    }
}

/// Inputs given as a string, strings, token ids or lists of token ids; and their tokens.
pub(crate) fn inputs(value: Option<&Value>, name: &str, vocabulary: Vocabulary) -> Result<(Vec<String>, u32), Refusal> {
    let wrong = || Refusal::bad(format!("'{name}' must be a string, an array of strings or arrays of token ids"));
    match value {
        Some(Value::String(text)) => Ok((vec![text.clone()], vocabulary.count(text))),
        Some(Value::Array(items)) if items.iter().all(Value::is_u64) && !items.is_empty() => {
            Ok((vec![String::new()], length(items)))
        }
        Some(Value::Array(items)) if !items.is_empty() => {
            let mut texts = Vec::with_capacity(items.len());
            let mut tokens = 0;
            for item in items {
                match item {
                    Value::String(text) => {
                        tokens += vocabulary.count(text);
                        texts.push(text.clone());
                    }
                    Value::Array(ids) => {
                        tokens += length(ids);
                        texts.push(String::new());
                    }
                    _ => return Err(wrong()),
                }
            }
            Ok((texts, tokens))
        }
        _ => Err(wrong()),
    }
}

fn length(items: &[Value]) -> u32 {
    u32::try_from(items.len()).unwrap_or(u32::MAX)
}
