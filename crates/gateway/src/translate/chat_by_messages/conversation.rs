//! A chat's messages as a system prompt and turns.

use serde_json::value::RawValue;

use crate::dialect::field::BadField;
use crate::translate::fields::{Fields, array, text_part};
use crate::wire::edit::{Object, quote};

/// Translates `messages`: `system` and `developer` messages become the system prompt, in their order; messages of one role
/// that follow each other become one turn, so that the results of parallel calls stand together, as Anthropic wants them.
///
/// # Errors
/// The first field that can't be used, or has no counterpart.
pub fn translate(from: &Fields<'_>, to: &mut Object<'_>) -> Result<(), BadField> {
    let mut system = Vec::new();
    let mut turns: Vec<(&str, Vec<String>)> = Vec::new();
    for message in from.children("messages")? {
        let (role, blocks) = match message.needed("role")?.as_str() {
            "system" | "developer" => {
                system.extend(content(&message, plain)?);
                message.finish()?;
                continue;
            }
            "user" => ("user", content(&message, shown)?),
            "assistant" => ("assistant", assistant(&message)?),
            "tool" => ("user", vec![result(&message)?]),
            _ => return Err(message.untranslatable("role")),
        };
        message.finish()?;
        match turns.last_mut() {
            Some((last, all)) if *last == role => all.extend(blocks),
            // What says nothing is no turn; Anthropic refuses empty ones.
            _ if blocks.is_empty() => {}
            _ => turns.push((role, blocks)),
        }
    }
    if turns.is_empty() {
        return Err(from.wrong("messages", "must hold a message that says something beside the system prompt"));
    }
    if !system.is_empty() {
        to.set("system", array(&system));
    }
    let turns: Vec<String> =
        turns.iter().map(|(role, blocks)| format!(r#"{{"role":"{role}","content":{}}}"#, array(blocks))).collect();
    to.set("messages", array(&turns));
    Ok(())
}

/// The blocks of `content`: a string's, or those of its parts.
fn content(
    message: &Fields<'_>,
    part: impl Fn(&Fields<'_>, &str) -> Result<Option<String>, BadField>,
) -> Result<Vec<String>, BadField> {
    let Some(text) = message.take("content") else { return Ok(Vec::new()) };
    if text.starts_with('"') {
        return Ok(text_part(text).into_iter().collect());
    }
    if !text.starts_with('[') {
        return Err(message.wrong("content", "must be a string or an array of parts"));
    }
    let mut blocks = Vec::new();
    for fields in message.children("content")? {
        let kind = fields.needed("type")?;
        blocks.extend(part(&fields, &kind)?);
        fields.finish()?;
    }
    Ok(blocks)
}

/// A part that may only be text.
fn plain(part: &Fields<'_>, kind: &str) -> Result<Option<String>, BadField> {
    if kind != "text" {
        return Err(part.untranslatable("type"));
    }
    Ok(text_part(&quote(&part.needed("text")?)))
}

/// A part of what a user shows.
fn shown(part: &Fields<'_>, kind: &str) -> Result<Option<String>, BadField> {
    if kind == "image_url" { image(part).map(Some) } else { plain(part, kind) }
}

/// A part of what the model said.
fn said(part: &Fields<'_>, kind: &str) -> Result<Option<String>, BadField> {
    if kind == "refusal" { Ok(text_part(&quote(&part.needed("refusal")?))) } else { plain(part, kind) }
}

fn image(part: &Fields<'_>) -> Result<String, BadField> {
    let image = part.take("image_url").ok_or_else(|| part.missing("image_url"))?;
    let image = part.child(part.param("image_url"), image)?;
    // Anthropic always looks at the whole image, and charges for it.
    image.only("detail", &["\"auto\"", "\"high\""])?;
    let url = image.needed("url")?;
    image.finish()?;
    let mut source = Object::default();
    if let Some(data) = url.strip_prefix("data:") {
        let (media_type, data) = data
            .split_once(";base64,")
            .ok_or_else(|| image.wrong("url", "must be `data:MEDIA_TYPE;base64,DATA`, or start with https://"))?;
        source.set("type", quote("base64"));
        source.set("media_type", quote(media_type));
        source.set("data", quote(data));
    } else if url.starts_with("https://") || url.starts_with("http://") {
        source.set("type", quote("url"));
        source.set("url", quote(&url));
    } else {
        return Err(image.wrong("url", "must be `data:MEDIA_TYPE;base64,DATA`, or start with https://"));
    }
    Ok(format!(r#"{{"type":"image","source":{}}}"#, source.to_text()))
}

fn assistant(message: &Fields<'_>) -> Result<Vec<String>, BadField> {
    let mut blocks = content(message, said)?;
    if let Some(refusal) = message.text("refusal")? {
        blocks.extend(text_part(&quote(&refusal)));
    }
    for call in message.children("tool_calls")? {
        if call.text("type")?.is_some_and(|kind| kind != "function") {
            return Err(call.untranslatable("type"));
        }
        let function = call.take("function").ok_or_else(|| call.missing("function"))?;
        let function = call.child(call.param("function"), function)?;
        let mut block = Object::default();
        block.set("type", quote("tool_use"));
        block.set("id", quote(&call.needed("id")?));
        block.set("name", quote(&function.needed("name")?));
        block.set("input", input(&function)?);
        call.pass_over(&["index"]); // left over from a stream's chunks
        function.finish()?;
        call.finish()?;
        blocks.push(block.to_text());
    }
    Ok(blocks)
}

/// A call's arguments, which Anthropic takes as an object.
fn input(function: &Fields<'_>) -> Result<String, BadField> {
    let arguments = function.text("arguments")?.unwrap_or_default();
    let arguments = arguments.trim();
    if arguments.is_empty() {
        return Ok("{}".to_owned());
    }
    match serde_json::from_str::<&RawValue>(arguments) {
        Ok(_) if arguments.starts_with('{') => Ok(arguments.to_owned()),
        _ => Err(function.wrong("arguments", "must be the text of a JSON object")),
    }
}

fn result(message: &Fields<'_>) -> Result<String, BadField> {
    let mut block = Object::default();
    block.set("type", quote("tool_result"));
    block.set("tool_use_id", quote(&message.needed("tool_call_id")?));
    let blocks = content(message, plain)?;
    if !blocks.is_empty() {
        block.set("content", array(&blocks));
    }
    message.pass_over(&["name"]); // the call's id says which tool it was
    Ok(block.to_text())
}
