//! Reading objects that people send: every mistake is named with its field, all of them at once.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// A value that can't be taken, with the field it stands in and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{field}: {message}")]
pub struct FieldError {
    /// The path of the field, such as `settings.overdraft.percent`.
    pub field: String,
    /// `unknown`, `invalid`, `not_a_string`, `out_of_range` or `conflict`.
    pub code: &'static str,
    /// For people.
    pub message: String,
}

/// Reads one object field by field and collects what is wrong with it.
pub(crate) struct Reader<'a> {
    path: String,
    object: Option<&'a Map<String, Value>>,
    errors: Vec<FieldError>,
}

impl<'a> Reader<'a> {
    /// Takes an object (null is an empty one) in which only the `known` fields may stand.
    pub(crate) fn new(path: &str, value: &'a Value, known: &[&str]) -> Self {
        let mut reader = Self { path: path.to_owned(), object: value.as_object(), errors: Vec::new() };
        match value {
            Value::Object(object) => {
                for name in object.keys().filter(|name| !known.contains(&name.as_str())) {
                    reader.refuse(name, "unknown", format!("is not known here; known are {}", known.join(", ")));
                }
            }
            Value::Null => {}
            _ => {
                let error =
                    FieldError { field: path.to_owned(), code: "invalid", message: "must be an object".to_owned() };
                reader.errors.push(error);
            }
        }
        reader
    }

    /// The value of a field; `None` where it is absent, null or of the wrong form (which is noted).
    pub(crate) fn read<T: DeserializeOwned>(&mut self, name: &str) -> Option<T> {
        let value = self.raw(name)?;
        match T::deserialize(value) {
            Ok(value) => Some(value),
            Err(error) => {
                self.refuse(name, "invalid", error.to_string());
                None
            }
        }
    }

    /// The JSON of a field; `None` where it is absent or null.
    pub(crate) fn raw(&self, name: &str) -> Option<&'a Value> {
        self.object?.get(name).filter(|value| !value.is_null())
    }

    /// The path of a field.
    pub(crate) fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// Notes that a field can't be taken.
    pub(crate) fn refuse(&mut self, name: &str, code: &'static str, message: impl Into<String>) {
        let error = FieldError { field: self.path_of(name), code, message: message.into() };
        self.errors.push(error);
    }

    /// Takes the outcome of reading a nested object.
    pub(crate) fn nested<T>(&mut self, outcome: Result<T, Vec<FieldError>>) -> Option<T> {
        match outcome {
            Ok(value) => Some(value),
            Err(errors) => {
                self.errors.extend(errors);
                None
            }
        }
    }

    /// The value, if nothing was wrong.
    pub(crate) fn finish<T>(self, value: T) -> Result<T, Vec<FieldError>> {
        if self.errors.is_empty() { Ok(value) } else { Err(self.errors) }
    }
}
