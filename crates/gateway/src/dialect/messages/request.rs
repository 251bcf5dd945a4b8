//! What a Messages request asks for, and its input.

use serde_json::value::RawValue;

use crate::dialect::asked::Asked;
use crate::dialect::chat::prompt;
use crate::dialect::count::{ANSWER_START, Counter, IMAGE_HIGH, PER_MESSAGE};
use crate::dialect::field::{self, BadField};
use crate::wire::edit::Object;

/// Nested contents (tool results) looked into.
const DEPTH_MAX: u8 = 4;

/// Reads the fields that matter.
///
/// # Errors
/// The first field that can't be used.
pub fn read(object: &Object<'_>) -> Result<Asked, BadField> {
    let model = field::text(object, "model")?;
    let stream = field::flag(object, "stream")?;
    let max_tokens = field::whole(object, "max_tokens", 1)?;
    Ok(Asked { model, stream, include_usage: true, max_tokens, max_field: Some("max_tokens"), n: 1 })
}

/// Counts the input: system prompt, messages, tools.
///
/// # Errors
/// `messages` is missing or of another shape.
pub fn count(object: &Object<'_>, counter: &mut Counter<'_>) -> Result<(), BadField> {
    counter.add(ANSWER_START);
    if let Some(system) = object.get("system") {
        counter.add(PER_MESSAGE);
        content(system, counter, DEPTH_MAX);
    }
    for (index, fields) in prompt::messages(object)?.iter().enumerate() {
        counter.add(PER_MESSAGE);
        let param = || format!("messages[{index}].content");
        let value =
            fields.get("content").ok_or_else(|| BadField::new(param(), format!("you must provide `{}`", param())))?;
        if !value.starts_with(['"', '[']) {
            return Err(BadField::new(param(), format!("`{}` must be a string or an array of blocks", param())));
        }
        content(value, counter, DEPTH_MAX);
    }
    if let Some(tools) = object.get("tools") {
        counter.tools(tools);
    }
    if let Some(choice) = object.get("tool_choice") {
        counter.text(choice);
    }
    Ok(())
}

fn content(value: &str, counter: &mut Counter<'_>, depth: u8) {
    let Ok(blocks) = serde_json::from_str::<Vec<&RawValue>>(value) else { return counter.value(value) };
    for block in blocks {
        match Object::parse(block.get().as_bytes()) {
            Ok(fields) if depth > 0 => one(&fields, block.get(), counter, depth - 1),
            _ => counter.text(block.get()),
        }
    }
}

fn one(fields: &Object<'_>, text: &str, counter: &mut Counter<'_>, depth: u8) {
    match (fields.get("type").unwrap_or_default(), fields.get("text"), fields.get("content")) {
        ("\"text\"", Some(words), _) => counter.value(words),
        ("\"image\"", ..) => counter.add(IMAGE_HIGH),
        ("\"document\"", ..) => document(fields, text, counter),
        ("\"tool_result\"", _, Some(inner)) => {
            counter.add(PER_MESSAGE);
            content(inner, counter, depth);
        }
        _ => counter.text(text),
    }
}

/// A document in plain text counts its words; any other may be as large as the context window.
fn document(fields: &Object<'_>, text: &str, counter: &mut Counter<'_>) {
    let source = fields.get("source").and_then(|source| Object::parse(source.as_bytes()).ok());
    match source.as_ref().and_then(|source| source.get("type")) {
        Some("\"text\"" | "\"content\"") => counter.text(text),
        _ => counter.reference(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::tokens::Tokenizer;

    fn tokens(fields: &str) -> Result<u64, BadField> {
        let body = format!(r#"{{"model":"m","max_tokens":10,{fields}}}"#);
        Dialect::Messages.count(&field::object(body.as_bytes()).unwrap(), &Tokenizer::named("o200k_base"), 100_000)
    }

    #[test]
    fn every_block_counts() {
        let plain = tokens(r#""messages":[{"role":"user","content":"Hello, world!"}]"#).unwrap();
        assert_eq!(plain, ANSWER_START + PER_MESSAGE + 4);
        let of = |block: &str| {
            tokens(&format!(r#""messages":[{{"role":"user","content":[{block}]}}]"#)).unwrap()
                - ANSWER_START
                - PER_MESSAGE
        };
        assert_eq!(of(r#"{"type":"text","text":"Hello, world!","cache_control":{"type":"ephemeral"}}"#), 4);
        assert_eq!(of(r#"{"type":"image","source":{"type":"base64","data":"AAAA"}}"#), IMAGE_HIGH);
        assert_eq!(of(r#"{"type":"document","source":{"type":"base64","data":"AAAA"}}"#), 100_000);
        assert_eq!(
            of(r#"{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"Hello, world!"}]}"#),
            PER_MESSAGE + 4
        );
        assert!(of(r#"{"type":"tool_use","id":"t","name":"f","input":{"city":"Paris"}}"#) > 10);
        let system = tokens(
            r#""system":[{"type":"text","text":"Hello, world!"}],"messages":[{"role":"user","content":"Hello, world!"}]"#,
        );
        assert_eq!(system.unwrap(), plain + PER_MESSAGE + 4);
        for (other, param) in [
            (r#""x":1"#, "messages"),
            (r#""messages":[{"role":"user"}]"#, "messages[0].content"),
            (r#""messages":[{"role":"user","content":7}]"#, "messages[0].content"),
        ] {
            assert_eq!(tokens(other).unwrap_err().param, param);
        }
    }
}
