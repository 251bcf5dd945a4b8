//! Transcriptions: newer models report tokens, as the Responses API names them, older ones a duration.

use serde_json::Value;

use super::{MAX_COUNT, Usage, from_responses};

/// Prompt tokens of audio that stand for one second where a provider reports a duration, as one that counts tokens would.
pub const AUDIO_TOKENS_PER_SECOND: u64 = 10;

/// Usage of a transcription. `None` where the report is missing, empty or unusable.
#[must_use]
pub fn from_transcription(usage: &Value) -> Option<Usage> {
    if usage.get("type").and_then(Value::as_str) == Some("duration") {
        return of_duration(usage.get("seconds")?);
    }
    from_responses(usage)
}

/// Usage of so many seconds, given as a number or as its text; a second that was begun counts in full.
#[must_use]
pub fn of_duration(seconds: &Value) -> Option<Usage> {
    let text = match seconds {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        _ => return None,
    };
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_digits(whole) || !is_digits(part) {
        return None;
    }
    let begun = u64::from(part.bytes().any(|byte| byte != b'0'));
    let seconds = whole.parse::<u64>().ok()?.checked_add(begun)?;
    let audio_input = seconds.checked_mul(AUDIO_TOKENS_PER_SECOND).filter(|tokens| *tokens <= MAX_COUNT)?;
    Some(Usage { audio_input, requests: 1, ..Usage::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tokens_and_durations_are_read() {
        let tokens = json!({"type": "tokens", "input_tokens": 94, "output_tokens": 21, "total_tokens": 115,
            "input_token_details": {"text_tokens": 4, "audio_tokens": 90}});
        let expected = Usage { audio_input: 90, ..Usage::of_tokens(4, 21) };
        assert_eq!(from_transcription(&tokens), Some(expected));
        let audio = |seconds: Value| {
            from_transcription(&json!({"type": "duration", "seconds": seconds})).map(|usage| usage.audio_input)
        };
        assert_eq!(audio(json!(9)), Some(90));
        assert_eq!(audio(json!(8.01)), Some(90));
        assert_eq!(audio(json!(8.0)), Some(80));
        assert_eq!(
            of_duration(&json!("8.470000267028809")),
            audio(json!(9)).map(|audio_input| Usage { audio_input, requests: 1, ..Usage::default() })
        );
        for odd in [json!(-1), json!("a"), json!(""), json!(".5"), json!(1e300), json!(null), json!([8])] {
            assert_eq!(audio(odd.clone()), None, "{odd}");
        }
        assert_eq!(from_transcription(&json!({})), None);
        assert_eq!(from_transcription(&json!({"type": "duration"})), None);
    }
}
