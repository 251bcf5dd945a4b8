//! Rerank, in the shape of Cohere and Jina: input only, like embeddings.

use domain::usage;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::dialect::asked::Asked;
use crate::dialect::count::{Counter, PER_MESSAGE, length};
use crate::dialect::field::{self, BadField};
use crate::dialect::reply::Reply;
use crate::dialect::watch::message_of;
use crate::wire::edit::Object;

/// Documents of one request at most.
const DOCUMENTS_MAX: usize = 100_000;

/// Reads the fields that matter.
///
/// # Errors
/// The model is missing.
pub fn read(object: &Object<'_>) -> Result<Asked, BadField> {
    let model = field::text(object, "model")?;
    Ok(Asked { model, stream: false, include_usage: false, max_tokens: None, max_field: None, n: 1 })
}

/// Counts the documents, and the query once with each of them: that is what such a model reads.
///
/// # Errors
/// `query` or `documents` is missing or of another shape.
pub fn count(object: &Object<'_>, counter: &mut Counter<'_>) -> Result<(), BadField> {
    let query = field::text(object, "query")?;
    let shape =
        || BadField::new("documents", format!("`documents` must be an array of 1 to {DOCUMENTS_MAX} texts or objects"));
    let documents =
        object.get("documents").ok_or_else(|| BadField::new("documents", "you must provide `documents`"))?;
    let documents: Vec<&RawValue> = serde_json::from_str(documents).map_err(|_| shape())?;
    if documents.is_empty() || documents.len() > DOCUMENTS_MAX {
        return Err(shape());
    }
    let each = counter.tokens_of(&query).saturating_add(PER_MESSAGE);
    counter.add(each.saturating_mul(length(documents.len())));
    for document in documents {
        counter.value(document.get());
    }
    Ok(())
}

/// Reads a whole answer.
#[must_use]
pub fn reply(body: &[u8]) -> Reply {
    let Ok(value @ Value::Object(_)) = serde_json::from_slice::<Value>(body) else { return Reply::Garbage };
    if let Some(error) = value.get("error").filter(|error| !error.is_null()) {
        return Reply::Error(message_of(error));
    }
    let served_model = value.get("model").and_then(Value::as_str).map(str::to_owned);
    Reply::Answer { usage: usage::from_rerank(&value), counted: 0, served_model }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::tokens::Tokenizer;
    use domain::usage::Usage;

    #[test]
    fn the_query_counts_once_with_every_document() {
        let count = |fields: &str| {
            let body = format!(r#"{{"model":"m",{fields}}}"#);
            Dialect::Rerank.count(&field::object(body.as_bytes()).unwrap(), &Tokenizer::named("o200k_base"), 1_000)
        };
        let hello = r#""Hello, world!""#;
        assert_eq!(count(&format!(r#""query":{hello},"documents":[{hello}]"#)).unwrap(), 4 + 4 + PER_MESSAGE);
        assert_eq!(count(&format!(r#""query":{hello},"documents":[{hello},{hello}]"#)).unwrap(), 2 * (8 + PER_MESSAGE));
        assert!(count(&format!(r#""query":{hello},"documents":[{{"text":{hello}}}]"#)).unwrap() > 8 + PER_MESSAGE);
        for (fields, param) in [
            (r#""documents":["a"]"#, "query"),
            (r#""query":"a""#, "documents"),
            (r#""query":"a","documents":[]"#, "documents"),
            (r#""query":"a","documents":"b""#, "documents"),
        ] {
            assert_eq!(count(fields).unwrap_err().param, param, "{fields}");
        }
    }

    #[test]
    fn usage_is_found_where_the_providers_put_it() {
        let answer =
            |usage, model: Option<&str>| Reply::Answer { usage, counted: 0, served_model: model.map(str::to_owned) };
        assert_eq!(
            reply(br#"{"model":"r","results":[],"usage":{"total_tokens":9}}"#),
            answer(Some(Usage::of_tokens(9, 0)), Some("r"))
        );
        assert_eq!(
            reply(br#"{"results":[],"meta":{"tokens":{"input_tokens":4}}}"#),
            answer(Some(Usage::of_tokens(4, 0)), None)
        );
        assert_eq!(reply(br#"{"results":[]}"#), answer(None, None));
        assert_eq!(reply(br#"{"error":"no"}"#), Reply::Error("no".to_owned()));
        assert_eq!(reply(b"[]"), Reply::Garbage);
    }
}
