//! OpenAI text completions. Their streams and replies are read like a chat's.

use serde_json::value::RawValue;

use crate::dialect::asked::{Asked, Changes};
use crate::dialect::chat::request;
use crate::dialect::count::{Counter, length};
use crate::dialect::field::{self, BadField};
use crate::wire::edit::Object;

/// Most prompts of one request.
const PROMPTS_MAX: usize = 2_048;

/// Reads the fields that matter. Every prompt is answered `n` times, of `best_of` generated.
///
/// # Errors
/// The first field that can't be used.
pub fn read(object: &Object<'_>) -> Result<Asked, BadField> {
    let model = field::text(object, "model")?;
    let stream = field::flag(object, "stream")?;
    let include_usage = request::include_usage(object)?;
    let max_tokens = field::whole(object, "max_tokens", 1)?;
    let each = request::choices(object, "n")?.max(request::choices(object, "best_of")?);
    let n = each.saturating_mul(prompts(object, "prompt")?.max(1));
    Ok(Asked { model, stream, include_usage, max_tokens, max_field: Some("max_tokens"), n })
}

/// Counts the prompts.
///
/// # Errors
/// `prompt` is missing or of another shape.
pub fn count(object: &Object<'_>, counter: &mut Counter<'_>) -> Result<(), BadField> {
    texts(object, "prompt", counter)?;
    if let Some(suffix) = object.get("suffix") {
        counter.value(suffix);
    }
    Ok(())
}

/// Changes what must.
///
/// # Errors
/// `stream_options` is no object.
pub fn change(object: &mut Object<'_>, asked: &Asked, changes: Changes<'_>) -> Result<(), BadField> {
    if let Some(max) = changes.lowered_max {
        object.set("max_tokens", max.to_string());
    }
    if asked.stream && !asked.include_usage { request::ask_for_usage(object) } else { Ok(()) }
}

/// How many texts a field holds: a text, several, a text as token numbers, or several of those.
fn prompts(object: &Object<'_>, name: &str) -> Result<u64, BadField> {
    let Some(value) = object.get(name) else { return Ok(1) };
    match serde_json::from_str::<Vec<&RawValue>>(value) {
        Ok(items) if items.len() > PROMPTS_MAX && !is_number(items[0]) => {
            Err(BadField::new(name, format!("`{name}` must hold at most {PROMPTS_MAX} texts")))
        }
        Ok(items) if items.first().is_some_and(|item| !is_number(item)) => Ok(length(items.len())),
        _ => Ok(1),
    }
}

fn is_number(value: &RawValue) -> bool {
    value.get().starts_with(|c: char| c.is_ascii_digit())
}

/// Counts a field that holds a text, several, a text as token numbers, or several of those.
///
/// # Errors
/// Missing or of another shape.
pub fn texts(object: &Object<'_>, name: &str, counter: &mut Counter<'_>) -> Result<(), BadField> {
    let value = object.get(name).ok_or_else(|| BadField::new(name, format!("you must provide `{name}`")))?;
    let other = || BadField::new(name, format!("`{name}` must be a text, token numbers, or an array of those"));
    if value.starts_with('"') {
        counter.value(value);
        return Ok(());
    }
    let items: Vec<&RawValue> = serde_json::from_str(value).map_err(|_| other())?;
    if items.is_empty() {
        return Err(BadField::new(name, format!("`{name}` must not be empty")));
    }
    for item in items {
        let text = item.get();
        if text.starts_with('"') {
            counter.value(text);
        } else if is_number(item) {
            counter.add(1);
        } else {
            let numbers: Vec<u64> = serde_json::from_str(text).map_err(|_| other())?;
            counter.add(length(numbers.len()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::tokens::Tokenizer;

    #[test]
    fn every_form_of_prompt_counts() {
        let count = |prompt: &str| {
            let body = format!(r#"{{"model":"m","prompt":{prompt}}}"#);
            let object = field::object(body.as_bytes()).unwrap();
            let n = Dialect::Completions.read(&object).unwrap().n;
            Dialect::Completions.count(&object, &Tokenizer::named("o200k_base"), 1_000).map(|tokens| (tokens, n))
        };
        assert_eq!(count(r#""Hello, world!""#).unwrap(), (4, 1));
        assert_eq!(count(r#"["Hello, world!","Hello, world!"]"#).unwrap(), (8, 2));
        assert_eq!(count("[1,2,3]").unwrap(), (3, 1));
        assert_eq!(count("[[1,2,3],[4]]").unwrap(), (4, 2));
        for other in ["7", "[]", r#"[{"a":1}]"#, "null"] {
            assert_eq!(count(other).unwrap_err().param, "prompt", "{other}");
        }
    }

    #[test]
    fn generated_answers_multiply() {
        let n = |more: &str| {
            let body = format!(r#"{{"model":"m","prompt":["a","b"]{more}}}"#);
            read(&field::object(body.as_bytes()).unwrap()).unwrap().n
        };
        assert_eq!((n(""), n(r#","n":3"#), n(r#","n":3,"best_of":5"#)), (2, 6, 10));
    }
}
