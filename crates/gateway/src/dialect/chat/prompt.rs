//! Tokens of a chat request's input, counted before the call.
//!
//! Text is counted with the model's vocabulary. What is no text has a documented bound, chosen so that providers
//! charge at most that much. What is only referred to (a file's id) may be as large as the context window.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::dialect::field::BadField;
use crate::tokens::Tokenizer;
use crate::wire::edit::Object;

/// Tokens that frame each message.
const PER_MESSAGE: u64 = 4;
/// Tokens that open the answer.
const ANSWER_START: u64 = 3;
/// Tokens that frame each tool beside its JSON text.
const PER_TOOL: u64 = 16;
/// An image of low detail.
const IMAGE_LOW: u64 = 85;
/// An image of any other detail: 85 and 170 for each of at most 8 tiles.
const IMAGE_HIGH: u64 = 1_445;
/// Bytes of base64 audio that make one token: a 16 kbit/s recording has 2 700 such bytes a second and costs 10 tokens.
const AUDIO_BYTES_PER_TOKEN: usize = 100;
/// Most messages of one request.
const MESSAGES_MAX: usize = 100_000;

/// Fields whose whole JSON text becomes part of the prompt.
const TEXT_FIELDS: [&str; 5] = ["tools", "functions", "response_format", "prediction", "tool_choice"];

/// Counts the input of a chat request. Never less than 1.
///
/// # Errors
/// `messages` is missing or of another shape.
pub fn count(object: &Object<'_>, tokenizer: &Tokenizer, context_window: u64) -> Result<u64, BadField> {
    let text = object.get("messages").ok_or_else(|| BadField::new("messages", "you must provide `messages`"))?;
    let messages: Vec<&RawValue> =
        serde_json::from_str(text).map_err(|_| BadField::new("messages", "`messages` must be an array of objects"))?;
    if messages.is_empty() || messages.len() > MESSAGES_MAX {
        return Err(BadField::new("messages", format!("`messages` must hold 1 to {MESSAGES_MAX} messages")));
    }
    let mut counter = Counter { tokenizer, context_window, tokens: ANSWER_START };
    for (index, message) in messages.iter().enumerate() {
        counter.message(index, message)?;
    }
    for name in TEXT_FIELDS {
        if let Some(value) = object.get(name) {
            counter.text(value);
        }
    }
    for name in ["tools", "functions"] {
        let listed = object.get(name).and_then(|value| serde_json::from_str::<Vec<&RawValue>>(value).ok());
        counter.add(listed.map_or(0, |tools| length(tools.len()).saturating_mul(PER_TOOL)));
    }
    Ok(counter.tokens)
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Option<std::borrow::Cow<'a, str>>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
    #[serde(borrow, default)]
    image_url: Option<&'a RawValue>,
    #[serde(borrow, default)]
    input_audio: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Image {
    #[serde(default)]
    detail: Option<String>,
}

struct Counter<'t> {
    tokenizer: &'t Tokenizer,
    context_window: u64,
    tokens: u64,
}

impl Counter<'_> {
    fn add(&mut self, tokens: u64) {
        self.tokens = self.tokens.saturating_add(tokens);
    }

    fn text(&mut self, text: &str) {
        self.add(self.tokenizer.count(text));
    }

    fn message(&mut self, index: usize, message: &RawValue) -> Result<(), BadField> {
        let fields = Object::parse(message.get().as_bytes()).map_err(|_| {
            BadField::new(format!("messages[{index}]"), format!("`messages[{index}]` must be an object"))
        })?;
        self.add(PER_MESSAGE);
        for (name, value) in fields.iter().filter(|(_, value)| *value != "null") {
            match name {
                "role" => self.add(1),
                "content" => self.content(value).map_err(|()| {
                    let param = format!("messages[{index}].content");
                    let message = format!("`{param}` must be a string or an array of parts");
                    BadField::new(param, message)
                })?,
                // Tool calls, names, reasoning handed back, and whatever else there may be: its text.
                _ => self.text(value),
            }
        }
        Ok(())
    }

    fn content(&mut self, value: &str) -> Result<(), ()> {
        if value.starts_with('"') {
            let text: String = serde_json::from_str(value).map_err(|_| ())?;
            self.text(&text);
            return Ok(());
        }
        let parts: Vec<&RawValue> = serde_json::from_str(value).map_err(|_| ())?;
        for part in parts {
            self.part(part.get());
        }
        Ok(())
    }

    fn part(&mut self, text: &str) {
        let Ok(part) = serde_json::from_str::<Part<'_>>(text) else {
            return self.text(text);
        };
        match (part.kind.as_deref(), &part.text, &part.refusal) {
            (Some("text" | "input_text" | "output_text"), Some(words), _) | (Some("refusal"), _, Some(words)) => {
                self.text(words)
            }
            (Some("image_url"), ..) => {
                let detail = part
                    .image_url
                    .and_then(|image| serde_json::from_str::<Image>(image.get()).ok())
                    .and_then(|image| image.detail);
                self.add(if detail.as_deref() == Some("low") { IMAGE_LOW } else { IMAGE_HIGH });
            }
            (Some("input_audio"), ..) => {
                let bytes = part.input_audio.map_or(0, |audio| audio.get().len());
                self.add(length(bytes / AUDIO_BYTES_PER_TOKEN + 1));
            }
            (Some("file"), ..) => self.add(self.context_window),
            _ => self.text(text),
        }
    }
}

fn length(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::field;

    fn tokens(body: &str) -> Result<u64, BadField> {
        count(&field::object(body.as_bytes()).unwrap(), &Tokenizer::named("o200k_base"), 128_000)
    }

    #[test]
    fn messages_count_their_words_and_their_frame() {
        let plain = tokens(r#"{"messages":[{"role":"user","content":"Hello, world!"}]}"#).unwrap();
        assert_eq!(plain, ANSWER_START + PER_MESSAGE + 1 + 4);
        let parts =
            tokens(r#"{"messages":[{"role":"user","content":[{"type":"text","text":"Hello, world!"}]}]}"#).unwrap();
        assert_eq!(parts, plain);
        let escaped = tokens(r#"{"messages":[{"role":"user","content":"\u0048ello, world!"}]}"#).unwrap();
        assert_eq!(escaped, plain);
        let named = tokens(r#"{"messages":[{"role":"user","name":"Ada","content":"Hello, world!"}]}"#).unwrap();
        assert!(named > plain);
        let null = tokens(r#"{"messages":[{"role":"assistant","content":null,"tool_calls":null}]}"#).unwrap();
        assert_eq!(null, ANSWER_START + PER_MESSAGE + 1);
    }

    #[test]
    fn tools_images_audio_and_files_count() {
        let plain = tokens(r#"{"messages":[{"role":"user","content":"a"}]}"#).unwrap();
        let tools = tokens(r#"{"messages":[{"role":"user","content":"a"}],"tools":[{"type":"function","function":{"name":"f","parameters":{}}}]}"#).unwrap();
        assert!(tools > plain + PER_TOOL + 10, "{tools}");
        let called = tokens(r#"{"messages":[{"role":"assistant","content":"a","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\"city\":\"Paris\"}"}}]}]}"#).unwrap();
        assert!(called > plain + 15, "{called}");
        let part = |part: &str| {
            tokens(&format!(r#"{{"messages":[{{"role":"user","content":[{part}]}}]}}"#)).unwrap() - (plain - 1)
        };
        assert_eq!(
            part(r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA","detail":"low"}}"#),
            IMAGE_LOW
        );
        assert_eq!(part(r#"{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}"#), IMAGE_HIGH);
        assert_eq!(part(r#"{"type":"file","file":{"file_id":"f-1"}}"#), 128_000);
        let audio =
            format!(r#"{{"type":"input_audio","input_audio":{{"data":"{}","format":"wav"}}}}"#, "A".repeat(100_000));
        assert!((1_000..1_010).contains(&part(&audio)));
        assert!(part(r#"{"type":"new_thing","words":"one two three"}"#) >= 5);
    }

    #[test]
    fn other_shapes_are_refused_by_name() {
        for (body, param) in [
            (r#"{}"#, "messages"),
            (r#"{"messages":"hi"}"#, "messages"),
            (r#"{"messages":[]}"#, "messages"),
            (r#"{"messages":["hi"]}"#, "messages[0]"),
            (r#"{"messages":[{"role":"user","content":"a"},{"role":"user","content":7}]}"#, "messages[1].content"),
        ] {
            assert_eq!(tokens(body).unwrap_err().param, param, "{body}");
        }
    }
}
