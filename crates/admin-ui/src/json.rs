//! JSON that is already there, as a wire type.

/// A value as a wire type. By way of its text: everything else is read from texts, and a second way of reading every type
/// would double the code that does it.
#[must_use]
pub fn reread<T: serde::de::DeserializeOwned>(value: &serde_json::Value) -> Option<T> {
    serde_json::from_str(&value.to_string()).ok()
}
