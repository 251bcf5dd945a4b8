//! OpenAI's shapes: chat and completions, responses (images and transcriptions use its names too), embeddings.
//! Cached, audio and reasoning tokens are parts of the prompt or the completion.

use serde_json::Value;

use super::Usage;
use super::field::{Unusable, first, nested};

/// Usage of a chat or text completion. `None` where the report is missing, empty or unusable.
///
/// `DeepSeek`'s `prompt_cache_hit_tokens` and a bare `cached_tokens` are read as the cached part. Where the total shows
/// that reasoning tokens come on top of the completion (as xAI counts), they are added, else they are part of it.
#[must_use]
pub fn from_openai(usage: &Value) -> Option<Usage> {
    chat(usage).ok().flatten()
}

/// Usage of the Responses API, and of image and transcription replies that use its names.
#[must_use]
pub fn from_responses(usage: &Value) -> Option<Usage> {
    responses(usage).ok().flatten()
}

/// Usage of an embeddings reply: prompt tokens alone.
#[must_use]
pub fn from_embeddings(usage: &Value) -> Option<Usage> {
    let prompt = first(usage, &["prompt_tokens", "input_tokens", "total_tokens"]).ok().flatten()?;
    Some(Usage::of_tokens(prompt, 0))
}

fn chat(usage: &Value) -> Result<Option<Usage>, Unusable> {
    let prompt = first(usage, &["prompt_tokens"])?;
    let completion = first(usage, &["completion_tokens"])?;
    let total = first(usage, &["total_tokens"])?;
    let (prompt, completion) = match (prompt, completion, total) {
        (Some(prompt), Some(completion), _) => (prompt, completion),
        // Embeddings name no completion: the total tells that there was none.
        (Some(prompt), None, Some(total)) => (prompt, total.saturating_sub(prompt)),
        (None, Some(completion), Some(total)) => (total.saturating_sub(completion), completion),
        _ => return Ok(None),
    };
    let input_details = nested(usage, &["prompt_tokens_details"]);
    let output_details = nested(usage, &["completion_tokens_details"]);
    let cached = match first(input_details, &["cached_tokens"])? {
        Some(cached) => Some(cached),
        None => first(usage, &["prompt_cache_hit_tokens", "cached_tokens"])?,
    };
    let reasoning = first(output_details, &["reasoning_tokens"])?.unwrap_or(0);
    let on_top = total == Some(prompt + completion + reasoning);
    Ok(Some(split(Parts {
        prompt,
        completion: if on_top { completion + reasoning } else { completion },
        cached: cached.unwrap_or(0),
        cache_written: first(input_details, &["cache_write_tokens"])?.unwrap_or(0),
        audio_input: first(input_details, &["audio_tokens"])?.unwrap_or(0),
        reasoning,
        audio_output: first(output_details, &["audio_tokens"])?.unwrap_or(0),
    })))
}

fn responses(usage: &Value) -> Result<Option<Usage>, Unusable> {
    let (Some(prompt), Some(completion)) = (first(usage, &["input_tokens"])?, first(usage, &["output_tokens"])?) else {
        return Ok(None);
    };
    let input_details = nested(usage, &["input_tokens_details", "input_token_details"]);
    let output_details = nested(usage, &["output_tokens_details", "output_token_details"]);
    Ok(Some(split(Parts {
        prompt,
        completion,
        cached: first(input_details, &["cached_tokens"])?.unwrap_or(0),
        cache_written: first(input_details, &["cache_write_tokens"])?.unwrap_or(0),
        audio_input: first(input_details, &["audio_tokens"])?.unwrap_or(0),
        reasoning: first(output_details, &["reasoning_tokens"])?.unwrap_or(0),
        audio_output: first(output_details, &["audio_tokens"])?.unwrap_or(0),
    })))
}

/// Sums with their parts, as reported.
struct Parts {
    prompt: u64,
    completion: u64,
    cached: u64,
    cache_written: u64,
    audio_input: u64,
    reasoning: u64,
    audio_output: u64,
}

/// Makes the parts disjoint. The sums are kept whatever the parts claim; parts that exceed their sum are cut.
fn split(parts: Parts) -> Usage {
    let mut left = parts.prompt;
    let cached_input = take(&mut left, parts.cached);
    let cache_write_5m = take(&mut left, parts.cache_written);
    let audio_input = take(&mut left, parts.audio_input);
    let input = left;
    let mut left = parts.completion;
    let reasoning = take(&mut left, parts.reasoning);
    let audio_output = take(&mut left, parts.audio_output);
    Usage {
        input,
        cached_input,
        cache_write_5m,
        audio_input,
        output: left,
        reasoning,
        audio_output,
        requests: 1,
        ..Usage::default()
    }
}

fn take(left: &mut u64, part: u64) -> u64 {
    let taken = part.min(*left);
    *left -= taken;
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nothing_reported_is_none_and_zeros_are_zeros() {
        for value in
            [json!(null), json!({}), json!([]), json!("usage"), json!({"total_tokens": 5}), json!({"prompt_tokens": 5})]
        {
            assert_eq!(from_openai(&value), None, "{value}");
            assert_eq!(from_responses(&value), None, "{value}");
        }
        let zeros = json!({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0});
        assert_eq!(from_openai(&zeros), Some(Usage::of_tokens(0, 0)));
        assert_eq!(from_responses(&json!({"input_tokens": 0, "output_tokens": 0})), Some(Usage::of_tokens(0, 0)));
    }

    #[test]
    fn one_unusable_count_makes_the_report_unusable() {
        for bad in [json!(-1), json!(1.5), json!("7"), json!(1e300), json!(u64::MAX)] {
            assert_eq!(from_openai(&json!({"prompt_tokens": bad, "completion_tokens": 1})), None);
            assert_eq!(from_openai(&json!({"prompt_tokens": 1, "completion_tokens": bad})), None);
            let details =
                json!({"prompt_tokens": 9, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": bad}});
            assert_eq!(from_openai(&details), None);
            assert_eq!(from_embeddings(&json!({"prompt_tokens": bad})), None);
        }
    }

    #[test]
    fn parts_never_exceed_their_sum() {
        let value = json!({
            "prompt_tokens": 10, "completion_tokens": 4,
            "prompt_tokens_details": {"cached_tokens": 8, "audio_tokens": 5},
            "completion_tokens_details": {"reasoning_tokens": 9, "audio_tokens": 9},
        });
        let expected = Usage { cached_input: 8, audio_input: 2, reasoning: 4, requests: 1, ..Usage::default() };
        assert_eq!(from_openai(&value), Some(expected));
    }

    #[test]
    fn reasoning_on_top_of_the_completion_is_seen_by_the_total() {
        let value = json!({
            "prompt_tokens": 32, "completion_tokens": 9, "total_tokens": 135,
            "completion_tokens_details": {"reasoning_tokens": 94},
        });
        assert_eq!(from_openai(&value), Some(Usage { reasoning: 94, ..Usage::of_tokens(32, 9) }));
    }

    #[test]
    fn embeddings_need_no_completion() {
        assert_eq!(from_embeddings(&json!({"prompt_tokens": 7, "total_tokens": 7})), Some(Usage::of_tokens(7, 0)));
        assert_eq!(from_openai(&json!({"prompt_tokens": 7, "total_tokens": 7})), Some(Usage::of_tokens(7, 0)));
        assert_eq!(from_embeddings(&json!({})), None);
    }
}
