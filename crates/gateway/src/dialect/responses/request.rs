//! What a Responses request asks for, and its input.

use serde_json::value::RawValue;

use crate::dialect::asked::Asked;
use crate::dialect::count::{ANSWER_START, Counter, IMAGE_HIGH, IMAGE_LOW, MESSAGES_MAX, PER_MESSAGE};
use crate::dialect::field::{self, BadField};
use crate::wire::edit::Object;

/// Fields that name something kept at the provider, which becomes part of the input.
const REFERENCES: [&str; 3] = ["previous_response_id", "conversation", "prompt"];
/// Fields whose whole JSON text becomes part of the prompt.
const TEXT_FIELDS: [&str; 3] = ["text", "tool_choice", "reasoning"];

/// Reads the fields that matter.
///
/// # Errors
/// The first field that can't be used.
pub fn read(object: &Object<'_>) -> Result<Asked, BadField> {
    let model = field::text(object, "model")?;
    let stream = field::flag(object, "stream")?;
    if field::flag(object, "background")? {
        return Err(BadField::new("background", "`background` is not supported: an answer must end with its call"));
    }
    let max_tokens = field::whole(object, "max_output_tokens", 1)?;
    Ok(Asked { model, stream, include_usage: true, max_tokens, max_field: Some("max_output_tokens"), n: 1 })
}

/// Counts the input. What is kept at the provider and only named may be as large as the context window.
///
/// # Errors
/// `input` is of another shape.
pub fn count(object: &Object<'_>, counter: &mut Counter<'_>) -> Result<(), BadField> {
    counter.add(ANSWER_START);
    let referred = REFERENCES.iter().any(|name| object.get(name).is_some());
    if referred {
        counter.reference();
    }
    match object.get("input") {
        None if referred => {}
        None => return Err(BadField::new("input", "you must provide `input`")),
        Some(text) if text.starts_with('"') => {
            counter.add(PER_MESSAGE);
            counter.value(text);
        }
        Some(list) => items(list, counter)?,
    }
    if let Some(instructions) = object.get("instructions") {
        counter.add(PER_MESSAGE);
        counter.value(instructions);
    }
    if let Some(tools) = object.get("tools") {
        counter.tools(tools);
    }
    for value in TEXT_FIELDS.iter().filter_map(|name| object.get(name)) {
        counter.text(value);
    }
    Ok(())
}

fn items(list: &str, counter: &mut Counter<'_>) -> Result<(), BadField> {
    let other = || BadField::new("input", "`input` must be a text or an array of items");
    let items: Vec<&RawValue> = serde_json::from_str(list).map_err(|_| other())?;
    if items.is_empty() || items.len() > MESSAGES_MAX {
        return Err(BadField::new("input", format!("`input` must hold 1 to {MESSAGES_MAX} items")));
    }
    for (index, item) in items.into_iter().enumerate() {
        let fields = Object::parse(item.get().as_bytes())
            .map_err(|_| BadField::new(format!("input[{index}]"), format!("`input[{index}]` must be an object")))?;
        counter.add(PER_MESSAGE);
        match (fields.get("type"), fields.get("content"), fields.get("output")) {
            (Some("\"item_reference\""), ..) => counter.reference(),
            (_, Some(content), _) | (_, None, Some(content)) => {
                parts(content, counter);
                for (name, value) in fields.iter().filter(|(name, _)| matches!(*name, "name" | "call_id" | "summary")) {
                    if name == "summary" { counter.text(value) } else { counter.value(value) }
                }
            }
            _ => counter.text(item.get()),
        }
    }
    Ok(())
}

fn parts(content: &str, counter: &mut Counter<'_>) {
    let Ok(parts) = serde_json::from_str::<Vec<&RawValue>>(content) else { return counter.value(content) };
    for part in parts {
        let Ok(fields) = Object::parse(part.get().as_bytes()) else {
            counter.text(part.get());
            continue;
        };
        match (fields.get("type").unwrap_or_default(), fields.get("text")) {
            ("\"input_text\"" | "\"output_text\"" | "\"summary_text\"" | "\"reasoning_text\"", Some(text)) => {
                counter.value(text);
            }
            ("\"input_image\"", _) => {
                counter.add(if fields.get("detail") == Some("\"low\"") { IMAGE_LOW } else { IMAGE_HIGH });
            }
            ("\"input_audio\"", _) => counter.audio(part.get().len()),
            ("\"input_file\"", _) => counter.reference(),
            _ => counter.text(part.get()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::tokens::Tokenizer;

    fn tokens(fields: &str) -> Result<u64, BadField> {
        let body = format!(r#"{{"model":"m",{fields}}}"#);
        Dialect::Responses.count(&field::object(body.as_bytes()).unwrap(), &Tokenizer::named("o200k_base"), 100_000)
    }

    #[test]
    fn every_form_of_input_counts() {
        let plain = tokens(r#""input":"Hello, world!""#).unwrap();
        assert_eq!(plain, ANSWER_START + PER_MESSAGE + 4);
        assert_eq!(tokens(r#""input":[{"role":"user","content":"Hello, world!"}]"#).unwrap(), plain);
        let part = r#""input":[{"role":"user","content":[{"type":"input_text","text":"Hello, world!"}]}]"#;
        assert_eq!(tokens(part).unwrap(), plain);
        assert_eq!(tokens(r#""input":"a","previous_response_id":"resp_1""#).unwrap(), plain - 3 + 100_000);
        assert!(tokens(r#""previous_response_id":"resp_1""#).unwrap() >= 100_000);
        let image = r#""input":[{"role":"user","content":[{"type":"input_image","image_url":"data:..."}]}]"#;
        assert_eq!(tokens(image).unwrap(), plain - 4 + IMAGE_HIGH);
        let called = r#""input":[{"type":"function_call_output","call_id":"c","output":"Hello, world!"}]"#;
        assert!(tokens(called).unwrap() > plain);
        for other in [r#""x":1"#, r#""input":7"#, r#""input":[]"#] {
            assert_eq!(tokens(other).unwrap_err().param, "input");
        }
    }
}
