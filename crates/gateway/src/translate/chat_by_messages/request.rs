//! A chat request as a messages request.

use crate::dialect::field::BadField;
use crate::translate::Bounds;
use crate::translate::fields::Fields;
use crate::wire::edit::{Object, quote};

use super::{conversation, tools};

/// Anthropic's highest temperature.
const TEMPERATURE_MAX: f64 = 1.0;

/// Translates a body.
///
/// # Errors
/// The first field that can't be used, or has no counterpart.
pub fn translate(body: &[u8], bounds: Bounds) -> Result<String, BadField> {
    let from = Fields::body(body, "Anthropic")?;
    let mut to = Object::default();
    to.set("model", quote(&from.needed("model")?));
    let must = "must be a whole number";
    let (newer, older) = (from.read::<u64>("max_completion_tokens", must)?, from.read::<u64>("max_tokens", must)?);
    to.set("max_tokens", newer.or(older).unwrap_or(bounds.max_output_tokens).to_string());
    conversation::translate(&from, &mut to)?;
    tools::translate(&from, &mut to)?;
    sampling(&from, &mut to)?;
    if let Some(stream) = from.read::<bool>("stream", "must be true or false")? {
        to.set("stream", stream.to_string());
    }
    caller(&from, &mut to)?;
    without_effect(&from)?;
    from.finish()?;
    Ok(to.to_text())
}

fn sampling(from: &Fields<'_>, to: &mut Object<'_>) -> Result<(), BadField> {
    if from.read::<f64>("temperature", "must be a number")?.is_some_and(|given| given > TEMPERATURE_MAX) {
        return Err(from.wrong("temperature", "must be at most 1: this model is served in Anthropic's dialect only"));
    }
    from.read::<f64>("top_p", "must be a number")?;
    for name in ["temperature", "top_p"] {
        if let Some(number) = from.take(name) {
            to.set(name, number.to_owned());
        }
    }
    match from.take("stop") {
        None => {}
        Some(one) if one.starts_with('"') => to.set("stop_sequences", format!("[{one}]")),
        Some(_) => {
            let stops: Vec<String> = from.read("stop", "must be a string or an array of strings")?.unwrap_or_default();
            let stops: Vec<String> = stops.iter().map(|stop| quote(stop)).collect();
            to.set("stop_sequences", format!("[{}]", stops.join(",")));
        }
    }
    Ok(())
}

/// Who asks, and how urgently.
fn caller(from: &Fields<'_>, to: &mut Object<'_>) -> Result<(), BadField> {
    let (newer, older) = (from.text("safety_identifier")?, from.text("user")?);
    if let (Some(newer), Some(older)) = (&newer, &older)
        && newer != older
    {
        return Err(from.wrong("user", "and `safety_identifier` differ; send one of them"));
    }
    if let Some(user) = newer.or(older) {
        to.set("metadata", format!(r#"{{"user_id":{}}}"#, quote(&user)));
    }
    match from.text("service_tier")?.as_deref() {
        None => {}
        Some("auto") => to.set("service_tier", quote("auto")),
        Some("default") => to.set("service_tier", quote("standard_only")),
        Some(_) => return Err(from.untranslatable("service_tier")),
    }
    Ok(())
}

/// Fields whose usual value asks for nothing; and hints that change no answer.
fn without_effect(from: &Fields<'_>) -> Result<(), BadField> {
    from.only("n", &["1"])?;
    from.only("logprobs", &["false"])?;
    from.only("top_logprobs", &["0"])?;
    from.only("store", &["false"])?;
    for penalty in ["frequency_penalty", "presence_penalty"] {
        if from.read::<f64>(penalty, "must be a number")?.is_some_and(|penalty| penalty != 0.0) {
            return Err(from.untranslatable(penalty));
        }
    }
    if let Some(format) = from.take("response_format") {
        let format = from.child("response_format".to_owned(), format)?;
        if format.text("type")?.as_deref() != Some("text") {
            return Err(from.untranslatable("response_format"));
        }
        format.finish()?;
    }
    if from.read::<Vec<String>>("modalities", "must be an array of strings")?.is_some_and(|all| all != ["text"]) {
        return Err(from.untranslatable("modalities"));
    }
    if let Some(options) = from.take("stream_options") {
        let options = from.child("stream_options".to_owned(), options)?;
        options.pass_over(&["include_usage"]); // the translation of the reply gives it
        options.only("include_obfuscation", &["false"])?;
        options.finish()?;
    }
    // Hints for a cache of OpenAI's own.
    from.pass_over(&["prompt_cache_key", "prompt_cache_retention"]);
    Ok(())
}
