//! What a chat request asks for, and the few changes made to it on its way.

use crate::dialect::asked::{Asked, Changes};
use crate::dialect::field::{self, BadField};
use crate::wire::edit::Object;

/// Most choices of one request.
const CHOICES_MAX: u64 = 128;

/// Reads the fields that matter.
///
/// # Errors
/// The first field that can't be used.
pub fn read(object: &Object<'_>) -> Result<Asked, BadField> {
    let model = field::text(object, "model")?;
    let stream = field::flag(object, "stream")?;
    let include_usage = include_usage(object)?;
    let newer = field::whole(object, "max_completion_tokens", 1)?;
    let older = field::whole(object, "max_tokens", 1)?;
    let (max_tokens, max_field) = match (newer, older) {
        (Some(newer), Some(older)) if older != newer => {
            return Err(BadField::new(
                "max_tokens",
                "`max_tokens` and `max_completion_tokens` differ; send one of them",
            ));
        }
        (Some(newer), _) => (Some(newer), Some("max_completion_tokens")),
        (None, Some(older)) => (Some(older), Some("max_tokens")),
        (None, None) => (None, None),
    };
    let n = choices(object, "n")?;
    Ok(Asked { model, stream, include_usage, max_tokens, max_field, n })
}

/// Changes what must: the wish for usage, a lowered maximum.
///
/// # Errors
/// `stream_options` is no object.
pub fn change(object: &mut Object<'_>, asked: &Asked, changes: Changes<'_>) -> Result<(), BadField> {
    if let Some(max) = changes.lowered_max {
        let both = object.get("max_tokens").is_some() && object.get("max_completion_tokens").is_some();
        let default = if changes.hidden_reasoning { "max_completion_tokens" } else { "max_tokens" };
        object.set(asked.max_field.unwrap_or(default), max.to_string());
        if both {
            object.set("max_tokens", max.to_string());
        }
    }
    if asked.stream && !asked.include_usage { ask_for_usage(object) } else { Ok(()) }
}

/// Sets `stream_options.include_usage`.
///
/// # Errors
/// `stream_options` is no object.
pub fn ask_for_usage(object: &mut Object<'_>) -> Result<(), BadField> {
    let options = match object.get("stream_options") {
        None => r#"{"include_usage":true}"#.to_owned(),
        Some(options) => {
            let mut options = stream_options(options)?;
            options.set("include_usage", "true".to_owned());
            options.to_text()
        }
    };
    object.set("stream_options", options);
    Ok(())
}

/// Does the caller ask for the usage chunk?
///
/// # Errors
/// `stream_options` is of another shape.
pub fn include_usage(object: &Object<'_>) -> Result<bool, BadField> {
    let Some(options) = object.get("stream_options") else { return Ok(false) };
    field::flag(&stream_options(options)?, "include_usage")
}

fn stream_options(text: &str) -> Result<Object<'_>, BadField> {
    Object::parse(text.as_bytes()).map_err(|_| BadField::new("stream_options", "`stream_options` must be an object"))
}

/// May the answer be spoken?
#[must_use]
pub fn is_spoken(object: &Object<'_>) -> bool {
    object.get("modalities").is_some_and(|modalities| modalities.contains("\"audio\""))
}

/// Choices asked for.
///
/// # Errors
/// Not a count, or too many.
pub fn choices(object: &Object<'_>, name: &str) -> Result<u64, BadField> {
    let n = field::whole(object, name, 1)?.unwrap_or(1);
    if n > CHOICES_MAX {
        return Err(BadField::new(name, format!("`{name}` must be at most {CHOICES_MAX}")));
    }
    Ok(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Asked, BadField> {
        read(&field::object(text.as_bytes())?)
    }

    fn rewritten(text: &str, lowered_max: Option<u64>, hidden_reasoning: bool) -> String {
        let asked = read_text(text).unwrap();
        crate::dialect::Dialect::Chat
            .rewrite(text.as_bytes(), &asked, Changes { upstream_model: "up", lowered_max, hidden_reasoning })
            .map(|body| String::from_utf8(body.to_vec()).unwrap())
            .unwrap()
    }

    #[test]
    fn only_what_must_change_changes() {
        assert_eq!(
            rewritten(r#"{"messages":[{"role":"user","content":"\u0041"}],"model":"m","zz":[1.50]}"#, None, false),
            r#"{"messages":[{"role":"user","content":"\u0041"}],"model":"up","zz":[1.50]}"#
        );
        assert_eq!(
            rewritten(r#"{"model":"m","stream":true}"#, None, false),
            r#"{"model":"up","stream":true,"stream_options":{"include_usage":true}}"#
        );
        assert_eq!(
            rewritten(r#"{"model":"m","stream":true,"stream_options":{"include_usage":false,"x":1}}"#, None, false),
            r#"{"model":"up","stream":true,"stream_options":{"include_usage":true,"x":1}}"#
        );
        assert_eq!(
            rewritten(r#"{"model":"m","stream":true,"stream_options":{ "include_usage": true }}"#, None, false),
            r#"{"model":"up","stream":true,"stream_options":{ "include_usage": true }}"#
        );
    }

    #[test]
    fn a_lowered_maximum_stands_where_the_caller_put_it() {
        assert_eq!(rewritten(r#"{"max_tokens":900,"model":"m"}"#, Some(7), true), r#"{"max_tokens":7,"model":"up"}"#);
        assert_eq!(
            rewritten(r#"{"max_completion_tokens":900,"model":"m"}"#, Some(7), false),
            r#"{"max_completion_tokens":7,"model":"up"}"#
        );
        assert_eq!(rewritten(r#"{"model":"m"}"#, Some(7), false), r#"{"model":"up","max_tokens":7}"#);
        assert_eq!(rewritten(r#"{"model":"m"}"#, Some(7), true), r#"{"model":"up","max_completion_tokens":7}"#);
        assert_eq!(
            rewritten(r#"{"max_tokens":9,"max_completion_tokens":9,"model":"m"}"#, Some(7), false),
            r#"{"max_tokens":7,"max_completion_tokens":7,"model":"up"}"#
        );
    }

    #[test]
    fn bad_fields_are_named() {
        for (text, param) in [
            (r#"{}"#, "model"),
            (r#"{"model":7}"#, "model"),
            (r#"{"model":"m","n":0}"#, "n"),
            (r#"{"model":"m","n":1000000000}"#, "n"),
            (r#"{"model":"m","max_tokens":0}"#, "max_tokens"),
            (r#"{"model":"m","max_tokens":"9"}"#, "max_tokens"),
            (r#"{"model":"m","max_completion_tokens":99999999999999999999}"#, "max_completion_tokens"),
            (r#"{"model":"m","max_tokens":1,"max_completion_tokens":2}"#, "max_tokens"),
            (r#"{"model":"m","stream":1}"#, "stream"),
            (r#"{"model":"m","stream_options":[]}"#, "stream_options"),
            (r#"[]"#, ""),
            (r#""#, ""),
        ] {
            assert_eq!(read_text(text).unwrap_err().param, param, "{text}");
        }
        assert_eq!(read_text(r#"{"model":"m","max_tokens":null,"n":null,"stream":null}"#).unwrap().max_tokens, None);
    }
}
