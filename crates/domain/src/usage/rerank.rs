//! Rerank replies: Jina's and vLLM's `usage`, Cohere's `meta.tokens`.

use serde_json::Value;

use super::Usage;
use super::field::{first, nested};

/// Usage of a whole rerank reply (the body, since the providers put it in different places). `None` where there is none.
#[must_use]
pub fn from_rerank(body: &Value) -> Option<Usage> {
    let usage = nested(body, &["usage"]);
    let tokens = nested(nested(body, &["meta"]), &["tokens"]);
    let input = match first(usage, &["prompt_tokens", "total_tokens"]).ok()? {
        Some(input) => input,
        None => first(tokens, &["input_tokens"]).ok()??,
    };
    let output = first(tokens, &["output_tokens"]).ok()?.unwrap_or(0);
    Some(Usage::of_tokens(input, output))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn all_places_are_read() {
        assert_eq!(from_rerank(&json!({"usage": {"total_tokens": 9}})), Some(Usage::of_tokens(9, 0)));
        assert_eq!(
            from_rerank(&json!({"usage": {"prompt_tokens": 9, "total_tokens": 9}})),
            Some(Usage::of_tokens(9, 0))
        );
        assert_eq!(from_rerank(&json!({"meta": {"tokens": {"input_tokens": 4}}})), Some(Usage::of_tokens(4, 0)));
        assert_eq!(from_rerank(&json!({"meta": {"billed_units": {"search_units": 1}}})), None);
        assert_eq!(from_rerank(&json!({"usage": {"total_tokens": -9}})), None);
        assert_eq!(from_rerank(&json!(null)), None);
    }
}
