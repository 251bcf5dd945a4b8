//! A system prompt and turns as a chat's messages.

use crate::dialect::field::BadField;
use crate::translate::fields::{Fields, array, text_part};
use crate::wire::edit::{Object, quote};

/// Put before the result of a tool that failed, for which OpenAI has no field.
const FAILED: &str = "Error: ";

/// Translates `system` and `messages`. Each tool result becomes a message of its own, before what else its turn says, as OpenAI
/// wants them.
///
/// # Errors
/// The first field that can't be used, or has no counterpart.
pub fn translate(from: &Fields<'_>, to: &mut Object<'_>) -> Result<(), BadField> {
    let mut messages = Vec::new();
    if let Some(content) = joined(texts(from, "system")?) {
        messages.push(format!(r#"{{"role":"system","content":{content}}}"#));
    }
    let before = messages.len();
    for message in from.children("messages")? {
        match message.needed("role")?.as_str() {
            "user" => user(&message, &mut messages)?,
            "assistant" => messages.extend(assistant(&message)?),
            _ => return Err(message.untranslatable("role")),
        }
        message.finish()?;
    }
    if messages.len() == before {
        return Err(from.wrong("messages", "must hold a message that says something"));
    }
    to.set("messages", array(&messages));
    Ok(())
}

/// Content as text alone: a string, or blocks.
fn texts(from: &Fields<'_>, name: &'static str) -> Result<Vec<String>, BadField> {
    let Some(text) = from.take(name) else { return Ok(Vec::new()) };
    if text.starts_with('"') {
        return Ok(text_part(text).into_iter().collect());
    }
    if !text.starts_with('[') {
        return Err(from.wrong(name, "must be a string or an array of blocks"));
    }
    let mut parts = Vec::new();
    for block in from.children(name)? {
        if block.needed("type")? != "text" {
            return Err(block.untranslatable("type"));
        }
        parts.extend(words(&block)?);
        done(&block)?;
    }
    Ok(parts)
}

/// Parts as a message's content: a single text as the string that every server understands; none where there is nothing.
fn joined(parts: Vec<String>) -> Option<String> {
    let single = |part: &str| {
        let text = part.strip_prefix(r#"{"type":"text","text":"#)?.strip_suffix('}')?;
        Some(text.to_owned())
    };
    match parts.as_slice() {
        [] => None,
        [one] => single(one).or_else(|| Some(array(&parts))),
        _ => Some(array(&parts)),
    }
}

fn words(block: &Fields<'_>) -> Result<Option<String>, BadField> {
    Ok(text_part(&quote(&block.needed("text")?)))
}

fn done(block: &Fields<'_>) -> Result<(), BadField> {
    block.pass_over(&["cache_control"]); // OpenAI caches by itself
    block.finish()
}

/// The blocks of a turn; a string is one block of text, which comes back as its part.
fn blocks<'a>(message: &'a Fields<'_>) -> Result<(Option<String>, Vec<Fields<'a>>), BadField> {
    match message.take("content") {
        None => Err(message.missing("content")),
        Some(text) if text.starts_with('"') => Ok((text_part(text), Vec::new())),
        Some(text) if text.starts_with('[') => Ok((None, message.children("content")?)),
        Some(_) => Err(message.wrong("content", "must be a string or an array of blocks")),
    }
}

fn user(message: &Fields<'_>, messages: &mut Vec<String>) -> Result<(), BadField> {
    let (text, blocks) = blocks(message)?;
    let mut parts: Vec<String> = text.into_iter().collect();
    for block in blocks {
        match block.needed("type")?.as_str() {
            "text" => parts.extend(words(&block)?),
            "image" => parts.push(image(&block)?),
            "tool_result" => messages.push(result(&block)?),
            _ => return Err(block.untranslatable("type")),
        }
        done(&block)?;
    }
    if let Some(content) = joined(parts) {
        messages.push(format!(r#"{{"role":"user","content":{content}}}"#));
    }
    Ok(())
}

fn image(block: &Fields<'_>) -> Result<String, BadField> {
    let source = block.take("source").ok_or_else(|| block.missing("source"))?;
    let source = block.child(block.param("source"), source)?;
    let url = match source.needed("type")?.as_str() {
        "base64" => format!("data:{};base64,{}", source.needed("media_type")?, source.needed("data")?),
        "url" => source.needed("url")?,
        _ => return Err(source.untranslatable("type")),
    };
    source.finish()?;
    Ok(format!(r#"{{"type":"image_url","image_url":{{"url":{}}}}}"#, quote(&url)))
}

fn result(block: &Fields<'_>) -> Result<String, BadField> {
    let id = block.needed("tool_use_id")?;
    let mut parts = texts(block, "content")?;
    if block.read::<bool>("is_error", "must be true or false")? == Some(true) {
        let said = match parts.first().map(|part| serde_json::from_str::<serde_json::Value>(part)) {
            Some(Ok(part)) => part["text"].as_str().unwrap_or_default().to_owned(),
            _ => String::new(),
        };
        let first = text_part(&quote(&format!("{FAILED}{said}"))).unwrap_or_default();
        if parts.is_empty() { parts.push(first) } else { parts[0] = first }
    }
    let content = joined(parts).unwrap_or_else(|| "\"\"".to_owned());
    Ok(format!(r#"{{"role":"tool","tool_call_id":{},"content":{content}}}"#, quote(&id)))
}

fn assistant(message: &Fields<'_>) -> Result<Option<String>, BadField> {
    let (text, blocks) = blocks(message)?;
    let mut parts: Vec<String> = text.into_iter().collect();
    let mut calls = Vec::new();
    for block in blocks {
        match block.needed("type")?.as_str() {
            "text" => parts.extend(words(&block)?),
            "tool_use" => calls.push(call(&block)?),
            _ => return Err(block.untranslatable("type")),
        }
        done(&block)?;
    }
    let content = joined(parts);
    if content.is_none() && calls.is_empty() {
        return Ok(None);
    }
    let mut to = Object::default();
    to.set("role", quote("assistant"));
    to.set("content", content.unwrap_or_else(|| "null".to_owned()));
    if !calls.is_empty() {
        to.set("tool_calls", array(&calls));
    }
    Ok(Some(to.to_text()))
}

fn call(block: &Fields<'_>) -> Result<String, BadField> {
    let input = block.take("input").unwrap_or("{}");
    if !input.starts_with('{') {
        return Err(block.wrong("input", "must be an object"));
    }
    let function = format!(r#"{{"name":{},"arguments":{}}}"#, quote(&block.needed("name")?), quote(input));
    Ok(format!(r#"{{"id":{},"type":"function","function":{function}}}"#, quote(&block.needed("id")?)))
}
