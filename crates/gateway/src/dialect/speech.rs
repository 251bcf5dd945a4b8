//! OpenAI text to speech. Its answer is sound, as bytes or as events; how much of it follows from the text.

use domain::price::Multiplier;
use domain::usage::{self, Usage};
use serde_json::Value;

use crate::dialect::asked::Asked;
use crate::dialect::count::{Counter, length};
use crate::dialect::field::{self, BadField};
use crate::wire::edit::Object;

/// Tokens of sound for one character at most: 20 tokens a second, and no language has fewer than 4 characters a second.
const TOKENS_PER_CHARACTER: u64 = 6;
/// The slowest speed that providers take.
const SLOWEST: u64 = 2_500;

/// Reads the fields that matter.
///
/// # Errors
/// The model is missing.
pub fn read(object: &Object<'_>) -> Result<Asked, BadField> {
    let model = field::text(object, "model")?;
    let stream = object.get("stream_format") == Some("\"sse\"");
    Ok(Asked { model, stream, include_usage: true, max_tokens: None, max_field: None, n: 1 })
}

/// Counts the text to be spoken, and how.
///
/// # Errors
/// `input` is missing or no text.
pub fn count(object: &Object<'_>, counter: &mut Counter<'_>) -> Result<(), BadField> {
    counter.text(&field::text(object, "input")?);
    if let Some(instructions) = object.get("instructions") {
        counter.value(instructions);
    }
    Ok(())
}

/// Tokens of the answer's sound at most.
///
/// # Errors
/// `input` is missing or no text.
pub fn answer_tokens(object: &Object<'_>) -> Result<u64, BadField> {
    let characters = length(field::text(object, "input")?.chars().count());
    let one = Multiplier::ONE.steps();
    let speed = object.get("speed").map_or(one, |speed| Multiplier::parse(speed).map_or(SLOWEST, Multiplier::steps));
    let tokens = characters.saturating_mul(TOKENS_PER_CHARACTER);
    Ok(tokens.saturating_mul(one).div_ceil(speed.clamp(SLOWEST, one)))
}

/// What a provider reports of an answer that is all sound.
#[must_use]
pub fn usage(reported: &Value) -> Option<Usage> {
    usage::from_responses(reported).map(|usage| Usage {
        audio_output: usage.output.saturating_add(usage.audio_output),
        output: 0,
        ..usage
    })
}

/// Bytes of sound that make one token, 20 tokens a second: uncompressed 16-bit mono at 24 kHz, and each format's usual rate.
#[must_use]
pub fn bytes_per_token(media_type: &str) -> u64 {
    match media_type {
        "audio/wav" | "audio/x-wav" | "audio/wave" | "audio/pcm" | "audio/l16" => 2_400,
        "audio/flac" | "audio/x-flac" => 1_200,
        "audio/ogg" | "audio/opus" | "audio/webm" => 200,
        _ => 800,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_speech_is_longer() {
        let tokens = |more: &str| {
            let body = format!(r#"{{"model":"m","input":"Hello, 世界"{more}}}"#);
            answer_tokens(&field::object(body.as_bytes()).unwrap()).unwrap()
        };
        assert_eq!(tokens(""), 9 * 6);
        assert_eq!(tokens(r#","speed":0.5"#), 9 * 12);
        assert_eq!(tokens(r#","speed":2"#), 9 * 6);
        for odd in ["0.01", "-1", "\"fast\"", "1e-9"] {
            assert_eq!(tokens(&format!(r#","speed":{odd}"#)), 9 * 24, "{odd}");
        }
    }
}
