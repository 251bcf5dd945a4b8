//! A messages request as a chat request.

use crate::dialect::field::BadField;
use crate::translate::Bounds;
use crate::translate::fields::Fields;
use crate::wire::edit::{Object, quote};

use super::{conversation, tools};

/// Stop sequences that OpenAI takes.
const STOPS_MAX: usize = 4;

/// Translates a body.
///
/// # Errors
/// The first field that can't be used, or has no counterpart.
pub fn translate(body: &[u8], bounds: Bounds) -> Result<String, BadField> {
    let from = Fields::body(body, "OpenAI")?;
    let mut to = Object::default();
    to.set("model", quote(&from.needed("model")?));
    let max = from.read::<u64>("max_tokens", "must be a whole number")?.ok_or_else(|| from.missing("max_tokens"))?;
    to.set(if bounds.hidden_reasoning { "max_completion_tokens" } else { "max_tokens" }, max.to_string());
    conversation::translate(&from, &mut to)?;
    tools::translate(&from, &mut to)?;
    sampling(&from, &mut to)?;
    if let Some(stream) = from.read::<bool>("stream", "must be true or false")? {
        to.set("stream", stream.to_string());
    }
    caller(&from, &mut to)?;
    if let Some(thinking) = from.take("thinking") {
        let thinking = from.child("thinking".to_owned(), thinking)?;
        if thinking.text("type")?.as_deref() != Some("disabled") {
            return Err(from.untranslatable("thinking"));
        }
        thinking.finish()?;
    }
    from.pass_over(&["cache_control"]); // OpenAI caches by itself
    from.finish()?;
    Ok(to.to_text())
}

fn sampling(from: &Fields<'_>, to: &mut Object<'_>) -> Result<(), BadField> {
    for name in ["temperature", "top_p"] {
        from.read::<f64>(name, "must be a number")?;
        if let Some(number) = from.take(name) {
            to.set(name, number.to_owned());
        }
    }
    let stops = from.read::<Vec<String>>("stop_sequences", "must be an array of strings")?.unwrap_or_default();
    if stops.len() > STOPS_MAX {
        return Err(from.wrong("stop_sequences", "must hold at most 4: this model is served in OpenAI's dialect only"));
    }
    if !stops.is_empty() {
        let stops: Vec<String> = stops.iter().map(|stop| quote(stop)).collect();
        to.set("stop", format!("[{}]", stops.join(",")));
    }
    Ok(())
}

/// Who asks, and how urgently.
fn caller(from: &Fields<'_>, to: &mut Object<'_>) -> Result<(), BadField> {
    if let Some(metadata) = from.take("metadata") {
        let metadata = from.child("metadata".to_owned(), metadata)?;
        if let Some(user) = metadata.text("user_id")? {
            to.set("user", quote(&user));
        }
        metadata.finish()?;
    }
    match from.text("service_tier")?.as_deref() {
        None => {}
        Some("auto") => to.set("service_tier", quote("auto")),
        Some("standard_only") => to.set("service_tier", quote("default")),
        Some(_) => return Err(from.untranslatable("service_tier")),
    }
    Ok(())
}
