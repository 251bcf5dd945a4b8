//! The input of a chat request.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::dialect::count::{ANSWER_START, Counter, IMAGE_HIGH, IMAGE_LOW, MESSAGES_MAX, PER_MESSAGE};
use crate::dialect::field::BadField;
use crate::wire::edit::Object;

/// Fields whose whole JSON text becomes part of the prompt.
const TEXT_FIELDS: [&str; 5] = ["tools", "functions", "response_format", "prediction", "tool_choice"];

/// Counts the input of a chat request.
///
/// # Errors
/// `messages` is missing or of another shape.
pub fn count(object: &Object<'_>, counter: &mut Counter<'_>) -> Result<(), BadField> {
    counter.add(ANSWER_START);
    for (index, fields) in messages(object)?.iter().enumerate() {
        counter.add(PER_MESSAGE);
        for (name, value) in fields.iter().filter(|(_, value)| *value != "null") {
            match name {
                // Part of the frame.
                "role" => {}
                "content" => content(counter, value).map_err(|()| {
                    let param = format!("messages[{index}].content");
                    let message = format!("`{param}` must be a string or an array of parts");
                    BadField::new(param, message)
                })?,
                // Speech of an earlier answer, by its id.
                "audio" => counter.reference(),
                // Tool calls, names, reasoning handed back, and whatever else there may be: its text.
                _ => counter.text(value),
            }
        }
    }
    for (name, value) in TEXT_FIELDS.iter().filter_map(|name| object.get(name).map(|value| (name, value))) {
        if matches!(*name, "tools" | "functions") { counter.tools(value) } else { counter.text(value) }
    }
    Ok(())
}

/// The fields of each message.
///
/// # Errors
/// `messages` is missing or of another shape.
pub fn messages<'a>(object: &'a Object<'_>) -> Result<Vec<Object<'a>>, BadField> {
    let text = object.get("messages").ok_or_else(|| BadField::new("messages", "you must provide `messages`"))?;
    let messages: Vec<&RawValue> =
        serde_json::from_str(text).map_err(|_| BadField::new("messages", "`messages` must be an array of objects"))?;
    if messages.is_empty() || messages.len() > MESSAGES_MAX {
        return Err(BadField::new("messages", format!("`messages` must hold 1 to {MESSAGES_MAX} messages")));
    }
    let fields = messages.into_iter().enumerate().map(|(index, message)| {
        Object::parse(message.get().as_bytes())
            .map_err(|_| BadField::new(format!("messages[{index}]"), format!("`messages[{index}]` must be an object")))
    });
    fields.collect()
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

fn content(counter: &mut Counter<'_>, value: &str) -> Result<(), ()> {
    if value.starts_with('"') {
        let text: String = serde_json::from_str(value).map_err(|_| ())?;
        counter.text(&text);
        return Ok(());
    }
    let parts: Vec<&RawValue> = serde_json::from_str(value).map_err(|_| ())?;
    for text in parts {
        part(counter, text.get());
    }
    Ok(())
}

fn part(counter: &mut Counter<'_>, text: &str) {
    let Ok(part) = serde_json::from_str::<Part<'_>>(text) else {
        return counter.text(text);
    };
    match (part.kind.as_deref(), &part.text, &part.refusal) {
        (Some("text"), Some(words), _) | (Some("refusal"), _, Some(words)) => counter.text(words),
        (Some("image_url"), ..) => {
            let image = part.image_url.and_then(|image| serde_json::from_str::<Image>(image.get()).ok());
            let is_low = image.and_then(|image| image.detail).as_deref() == Some("low");
            counter.add(if is_low { IMAGE_LOW } else { IMAGE_HIGH });
        }
        (Some("input_audio"), ..) => counter.audio(part.input_audio.map_or(0, |audio| audio.get().len())),
        (Some("file"), ..) => counter.reference(),
        _ => counter.text(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::count::PER_TOOL;
    use crate::dialect::{Dialect, field};
    use crate::tokens::Tokenizer;

    fn tokens(body: &str) -> Result<u64, BadField> {
        Dialect::Chat.count(&field::object(body.as_bytes()).unwrap(), &Tokenizer::named("o200k_base"), 128_000)
    }

    #[test]
    fn messages_count_their_words_and_their_frame() {
        let plain = tokens(r#"{"messages":[{"role":"user","content":"Hello, world!"}]}"#).unwrap();
        assert_eq!(plain, ANSWER_START + PER_MESSAGE + 4);
        let parts =
            tokens(r#"{"messages":[{"role":"user","content":[{"type":"text","text":"Hello, world!"}]}]}"#).unwrap();
        assert_eq!(parts, plain);
        let escaped = tokens(r#"{"messages":[{"role":"user","content":"\u0048ello, world!"}]}"#).unwrap();
        assert_eq!(escaped, plain);
        let named = tokens(r#"{"messages":[{"role":"user","name":"Ada","content":"Hello, world!"}]}"#).unwrap();
        assert!(named > plain);
        let null = tokens(r#"{"messages":[{"role":"assistant","content":null,"tool_calls":null}]}"#).unwrap();
        assert_eq!(null, ANSWER_START + PER_MESSAGE);
        let spoken = tokens(r#"{"messages":[{"role":"assistant","audio":{"id":"audio_1"}}]}"#).unwrap();
        assert_eq!(spoken, ANSWER_START + PER_MESSAGE + 128_000);
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
