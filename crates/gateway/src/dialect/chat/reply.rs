//! The words of a whole chat answer.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Map, Value};

use crate::dialect::chat::stream::Watcher;
use crate::dialect::watch::Watch;
use crate::tokens::Tokenizer;
use crate::wire::sse::Piece;

/// Counts an answer's words as if it had been streamed in one chunk.
#[must_use]
pub fn count(answer: Map<String, Value>, tokenizer: &Arc<Tokenizer>) -> u64 {
    let mut answer = Value::Object(answer);
    for choice in answer.get_mut("choices").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(message) = choice.get_mut("message").map(Value::take) {
            choice["delta"] = message;
        }
    }
    let mut watcher = Watcher::new(Arc::clone(tokenizer), true);
    watcher.see(&Piece::Event { raw: Bytes::new(), data: Bytes::from(answer.to_string()) });
    watcher.words_mut().exact()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::dialect::reply::Reply;
    use domain::usage::Usage;

    fn read_text(body: &str) -> Reply {
        Dialect::Chat.reply("application/json", body.as_bytes(), &Arc::new(Tokenizer::named("o200k_base")))
    }

    #[test]
    fn every_kind_of_200_is_told_apart() {
        let answer = |usage, counted| Reply::Answer { usage, counted, served_model: None };
        let message = r#""choices":[{"index":0,"message":{"role":"assistant","content":"Hello, world!"}}]"#;
        let reported = r#""usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}"#;
        assert_eq!(read_text(&format!("{{{message},{reported}}}")), answer(Some(Usage::of_tokens(9, 4)), 0));
        assert_eq!(read_text(&format!("{{{message}}}")), answer(None, 4));
        assert_eq!(read_text(&format!(r#"{{{message},"usage":null,"error":null}}"#)), answer(None, 4));
        assert_eq!(read_text(r#"{"choices":[{"index":0,"text":"Hello, world!"}]}"#), answer(None, 4));
        assert_eq!(read_text(r#"{"choices":[]}"#), answer(None, 0));
        assert_eq!(read_text(r#"{"error":{"message":"overloaded"}}"#), Reply::Error("overloaded".to_owned()));
        assert_eq!(read_text(r#"{"error":"overloaded"}"#), Reply::Error("overloaded".to_owned()));
        for garbage in ["", "<html>", "[]", "{\"a\":"] {
            assert_eq!(read_text(garbage), Reply::Garbage);
        }
    }
}
