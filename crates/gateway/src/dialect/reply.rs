//! A whole answer: its usage, or the words to count where it reports none.

use domain::usage::Usage;
use serde_json::{Map, Value};

use crate::dialect::watch::message_of;

/// What a success turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub enum Reply {
    /// An answer.
    Answer {
        /// As reported; none where missing, empty or unusable.
        usage: Option<Usage>,
        /// Output tokens by the local count, taken only where nothing was reported.
        counted: u64,
        /// The model as the upstream named it.
        served_model: Option<String>,
    },
    /// An error in spite of the status.
    Error(String),
    /// No JSON object.
    Garbage,
}

/// Reads a whole answer. `usage` finds the report in it; `count` counts its words where there is none.
pub fn read(
    body: &[u8],
    usage: impl Fn(&Value) -> Option<Usage>,
    count: impl FnOnce(Map<String, Value>) -> u64,
) -> Reply {
    let Ok(Value::Object(object)) = serde_json::from_slice::<Value>(body) else { return Reply::Garbage };
    if let Some(error) = object.get("error").filter(|error| !error.is_null()) {
        return Reply::Error(message_of(error));
    }
    let usage = object.get("usage").and_then(usage);
    let served_model = object.get("model").and_then(Value::as_str).map(str::to_owned);
    let counted = if usage.is_some() { 0 } else { count(object) };
    Reply::Answer { usage, counted, served_model }
}
