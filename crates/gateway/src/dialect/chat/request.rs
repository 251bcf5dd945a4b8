//! What a chat request asks for, and the few changes made to it on its way.

use crate::dialect::field::{self, BadField};
use crate::wire::edit::{self, Object};

/// Most choices of one request.
const CHOICES_MAX: u64 = 128;

/// What the gateway needs to know of a chat request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The model's name, as the caller knows it.
    pub model: String,
    /// Streamed answer?
    pub stream: bool,
    /// Does the caller want to see the usage chunk of a stream?
    pub include_usage: bool,
    /// The caller's maximum of output tokens for each choice.
    pub max_tokens: Option<u64>,
    /// The field that carried it.
    max_field: Option<&'static str>,
    /// Choices.
    pub n: u64,
}

/// Reads the fields that matter.
///
/// # Errors
/// The first field that can't be used.
pub fn read(object: &Object<'_>) -> Result<Asked, BadField> {
    let model = field::text(object, "model")?;
    let stream = field::flag(object, "stream")?;
    let include_usage = match object.get("stream_options") {
        None => false,
        Some(options) => {
            let options = Object::parse(options.as_bytes())
                .map_err(|_| BadField::new("stream_options", "`stream_options` must be an object"))?;
            field::flag(&options, "include_usage")?
        }
    };
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
    let n = field::whole(object, "n", 1)?.unwrap_or(1);
    if n > CHOICES_MAX {
        return Err(BadField::new("n", format!("`n` must be at most {CHOICES_MAX}")));
    }
    Ok(Asked { model, stream, include_usage, max_tokens, max_field, n })
}

/// The changes made before a request goes to a target.
#[derive(Debug, Clone, Copy)]
pub struct Changes<'a> {
    /// The target's name of the model.
    pub upstream_model: &'a str,
    /// A maximum lower than the caller's, for each choice.
    pub lowered_max: Option<u64>,
    /// The model thinks where nobody sees it: only `max_completion_tokens` bounds it.
    pub hidden_reasoning: bool,
}

/// The request's text for one target: the model's name, the wish for usage and a lowered maximum change, nothing else.
///
/// # Errors
/// `stream_options` is no object.
pub fn rewrite(body: &[u8], asked: &Asked, changes: Changes<'_>) -> Result<String, BadField> {
    let mut object = field::object(body)?;
    object.set("model", edit::quote(changes.upstream_model));
    if let Some(max) = changes.lowered_max {
        let both = object.get("max_tokens").is_some() && object.get("max_completion_tokens").is_some();
        let default = if changes.hidden_reasoning { "max_completion_tokens" } else { "max_tokens" };
        object.set(asked.max_field.unwrap_or(default), max.to_string());
        if both {
            object.set("max_tokens", max.to_string());
        }
    }
    if asked.stream && !asked.include_usage {
        let options = match object.get("stream_options") {
            None => r#"{"include_usage":true}"#.to_owned(),
            Some(options) => {
                let mut options = Object::parse(options.as_bytes())
                    .map_err(|_| BadField::new("stream_options", "`stream_options` must be an object"))?;
                options.set("include_usage", "true".to_owned());
                options.to_text()
            }
        };
        object.set("stream_options", options);
    }
    Ok(object.to_text())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Asked, BadField> {
        read(&field::object(text.as_bytes())?)
    }

    fn rewritten(text: &str, lowered_max: Option<u64>, hidden_reasoning: bool) -> String {
        let asked = read_text(text).unwrap();
        rewrite(text.as_bytes(), &asked, Changes { upstream_model: "up", lowered_max, hidden_reasoning }).unwrap()
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
