//! A whole chat answer: its usage, or the words to count where it reports none.

use std::sync::Arc;

use bytes::Bytes;
use domain::usage::Usage;
use serde_json::Value;

use crate::dialect::chat::stream::Watcher;
use crate::tokens::Tokenizer;
use crate::wire::sse::Piece;

/// What a 200 turned out to be.
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

/// Reads a whole answer.
#[must_use]
pub fn read(body: &[u8], tokenizer: &Arc<Tokenizer>) -> Reply {
    let Ok(mut value) = serde_json::from_slice::<Value>(body) else { return Reply::Garbage };
    let Some(object) = value.as_object_mut() else { return Reply::Garbage };
    if let Some(error) = object.get("error").filter(|error| !error.is_null()) {
        let message = error.get("message").and_then(Value::as_str).or(error.as_str());
        return Reply::Error(message.unwrap_or("an error without a message").to_owned());
    }
    let usage = object.get("usage").and_then(domain::usage::from_openai);
    let served_model = object.get("model").and_then(Value::as_str).map(str::to_owned);
    let counted = if usage.is_some() { 0 } else { count(&mut value, tokenizer) };
    Reply::Answer { usage, counted, served_model }
}

/// Counts an answer's words as if it had been streamed in one chunk.
fn count(value: &mut Value, tokenizer: &Arc<Tokenizer>) -> u64 {
    for choice in value.get_mut("choices").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(message) = choice.get_mut("message").map(Value::take) {
            choice["delta"] = message;
        }
    }
    let mut watcher = Watcher::new(Arc::clone(tokenizer), true);
    watcher.see(&Piece::Event { raw: Bytes::new(), data: Bytes::from(value.to_string()) });
    watcher.tokens()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(body: &str) -> Reply {
        read(body.as_bytes(), &Arc::new(Tokenizer::named("o200k_base")))
    }

    #[test]
    fn every_kind_of_200_is_told_apart() {
        let answer = |usage, counted| Reply::Answer { usage, counted, served_model: None };
        let message = r#""choices":[{"index":0,"message":{"role":"assistant","content":"Hello, world!"}}]"#;
        let reported = r#""usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}"#;
        assert_eq!(read_text(&format!("{{{message},{reported}}}")), answer(Some(Usage::of_tokens(9, 4)), 0));
        assert_eq!(read_text(&format!("{{{message}}}")), answer(None, 4));
        assert_eq!(read_text(&format!(r#"{{{message},"usage":null,"error":null}}"#)), answer(None, 4));
        assert_eq!(read_text(r#"{"choices":[]}"#), answer(None, 0));
        assert_eq!(read_text(r#"{"error":{"message":"overloaded"}}"#), Reply::Error("overloaded".to_owned()));
        assert_eq!(read_text(r#"{"error":"overloaded"}"#), Reply::Error("overloaded".to_owned()));
        for garbage in ["", "<html>", "[]", "{\"a\":"] {
            assert_eq!(read_text(garbage), Reply::Garbage);
        }
    }
}
