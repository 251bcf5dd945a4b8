//! Reading single fields of a request, with errors that name the field.

use crate::wire::edit::Object;

/// A field of the request that can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BadField {
    /// The field, such as `messages[2].content`; empty where the body as a whole is meant.
    pub param: String,
    /// What is wrong and what to send instead.
    pub message: String,
}

impl BadField {
    /// An error about `param`.
    pub fn new(param: impl Into<String>, message: impl Into<String>) -> Self {
        Self { param: param.into(), message: message.into() }
    }
}

/// The body as an object.
///
/// # Errors
/// It is no JSON object.
pub fn object(body: &[u8]) -> Result<Object<'_>, BadField> {
    Object::parse(body).map_err(|error| {
        let message = if body.is_empty() {
            "the body is empty; send a JSON object".to_owned()
        } else {
            format!("the body is not a JSON object: {error}")
        };
        BadField::new("", message)
    })
}

/// A text field that must be there.
///
/// # Errors
/// Missing, empty or no text.
pub fn text(object: &Object<'_>, name: &str) -> Result<String, BadField> {
    let value = object.get(name).ok_or_else(|| BadField::new(name, format!("you must provide `{name}`")))?;
    match serde_json::from_str::<String>(value) {
        Ok(text) if !text.is_empty() => Ok(text),
        _ => Err(BadField::new(name, format!("`{name}` must be a string that is not empty"))),
    }
}

/// A true or false, false where absent.
///
/// # Errors
/// Something else.
pub fn flag(object: &Object<'_>, name: &str) -> Result<bool, BadField> {
    match object.get(name) {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(_) => Err(BadField::new(name, format!("`{name}` must be true or false"))),
    }
}

/// A whole number of at least `least`.
///
/// # Errors
/// Something else.
pub fn whole(object: &Object<'_>, name: &str, least: u64) -> Result<Option<u64>, BadField> {
    let Some(value) = object.get(name) else { return Ok(None) };
    match value.parse::<u64>() {
        Ok(number) if number >= least => Ok(Some(number)),
        _ => Err(BadField::new(name, format!("`{name}` must be a whole number of at least {least}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_values_name_their_field() {
        let body = br#"{"model":"","n":1.5,"max_tokens":-1,"big":1e9,"zero":0,"stream":"yes","ok":7,"none":null}"#;
        let object = object(body).unwrap_or_else(|error| unreachable!("{error}"));
        for (result, param) in [
            (text(&object, "model").map(|_| ()), "model"),
            (text(&object, "missing").map(|_| ()), "missing"),
            (whole(&object, "n", 1).map(|_| ()), "n"),
            (whole(&object, "max_tokens", 1).map(|_| ()), "max_tokens"),
            (whole(&object, "big", 1).map(|_| ()), "big"),
            (whole(&object, "zero", 1).map(|_| ()), "zero"),
            (flag(&object, "stream").map(|_| ()), "stream"),
        ] {
            assert_eq!(result.err().map(|error| error.param).as_deref(), Some(param));
        }
        assert_eq!(whole(&object, "ok", 1), Ok(Some(7)));
        assert_eq!(whole(&object, "none", 1), Ok(None));
    }
}
