//! OpenAI speech to text: a form with a file, answered in JSON, in plain text, or in events.

use std::sync::Arc;

use domain::usage::{self, AUDIO_TOKENS_PER_SECOND};
use serde_json::Value;

use crate::dialect::asked::Asked;
use crate::dialect::count::length;
use crate::dialect::field::BadField;
use crate::dialect::input::Input;
use crate::dialect::reply::Reply;
use crate::dialect::watch::message_of;
use crate::tokens::Tokenizer;
use crate::wire::form::{self, Form};

/// Bytes of a recording that make one token where its length can't be read: 8 kbit/s, less than speech is kept at.
const BYTES_PER_TOKEN: u64 = 100;

/// The form of a body.
///
/// # Errors
/// It can't be read.
pub fn form(body: &[u8]) -> Result<Form<'_>, BadField> {
    Form::parse(body).map_err(|why| BadField::new("", format!("{why}; send multipart/form-data")))
}

/// Refuses a body whose boundary is not the one that its head names: the provider would read another form.
///
/// # Errors
/// Those.
pub fn check_head(content_type: Option<&str>, form: &Form<'_>) -> Result<(), BadField> {
    let named = content_type.and_then(form::boundary);
    if named.is_some_and(|named| named.as_bytes() == form.boundary()) {
        return Ok(());
    }
    Err(BadField::new("", "the head must name the body's boundary: `Content-Type: multipart/form-data; boundary=...`"))
}

/// Reads the fields that matter.
///
/// # Errors
/// The first field that can't be used.
pub fn read(form: &Form<'_>) -> Result<Asked, BadField> {
    let model = form.text("model").filter(|model| !model.is_empty());
    let model = model.ok_or_else(|| BadField::new("model", "you must provide `model`"))?.to_owned();
    if form.file("file").is_none() {
        return Err(BadField::new("file", "you must provide `file`, with a file name"));
    }
    let stream = match form.text("stream").unwrap_or_default().to_ascii_lowercase().as_str() {
        "" | "false" | "0" | "off" | "no" => false,
        "true" | "1" | "on" | "yes" => true,
        _ => return Err(BadField::new("stream", "`stream` must be true or false")),
    };
    Ok(Asked { model, stream, include_usage: true, max_tokens: None, max_field: None, n: 1 })
}

/// Counts the prompt, and bounds the recording and what is said in it: nobody speaks 10 tokens a second.
#[must_use]
pub fn input(form: &Form<'_>, tokenizer: &Tokenizer) -> Input {
    let text_tokens = form.text("prompt").map_or(0, |prompt| tokenizer.count(prompt));
    let audio_tokens = form.file("file").map_or(1, audio_tokens);
    Input { text_tokens, audio_tokens, answer_tokens: Some(audio_tokens.max(16)), ..Input::default() }
}

fn audio_tokens(file: &[u8]) -> u64 {
    let by_bytes = length(file.len()).div_ceil(BYTES_PER_TOKEN);
    let seconds = wav_seconds(file);
    seconds.map_or(by_bytes, |seconds| seconds.saturating_mul(AUDIO_TOKENS_PER_SECOND)).max(1)
}

/// Seconds, rounded up, of a WAV file; by the bytes that are there, whatever its head claims of their number.
fn wav_seconds(file: &[u8]) -> Option<u64> {
    if file.get(..4)? != b"RIFF" || file.get(8..16)? != b"WAVEfmt " {
        return None;
    }
    let per_second = u64::from(u32::from_le_bytes(file.get(28..32)?.try_into().ok()?));
    // Less than 8 bits at 4 kHz, or more than any recording has: not to be believed.
    (4_000..=10_000_000).contains(&per_second).then(|| length(file.len()).div_ceil(per_second))
}

/// Reads a whole answer; one that is no JSON is the transcript itself.
#[must_use]
pub fn reply(media_type: &str, body: &[u8], tokenizer: &Arc<Tokenizer>) -> Reply {
    let text = |text: &str| Reply::Answer { usage: None, counted: tokenizer.count(text), served_model: None };
    if media_type.starts_with("text/") || media_type == "application/x-subrip" {
        return std::str::from_utf8(body).map_or(Reply::Garbage, text);
    }
    let Ok(Value::Object(object)) = serde_json::from_slice::<Value>(body) else { return Reply::Garbage };
    if let Some(error) = object.get("error").filter(|error| !error.is_null()) {
        return Reply::Error(message_of(error));
    }
    let counted = object.get("text").and_then(Value::as_str).map_or(0, |text| tokenizer.count(text));
    let reported = object.get("usage").and_then(usage::from_transcription);
    // A verbose answer tells the recording's length even where it reports no usage.
    let usage = reported.or_else(|| {
        let of_length = object.get("duration").and_then(usage::of_duration)?;
        Some(usage::Usage { output: counted, ..of_length })
    });
    Reply::Answer { usage, counted, served_model: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::usage::Usage;

    fn wav(seconds: usize) -> Vec<u8> {
        let mut file = b"RIFF\xff\xff\xff\xffWAVEfmt \x10\0\0\0\x01\0\x01\0\x80\x3e\0\0\x00\x7d\0\0\x02\0\x10\0data\xff\xff\xff\xff".to_vec();
        file.resize(32_000 * seconds, 0);
        file
    }

    #[test]
    fn a_recordings_length_is_read_or_bounded() {
        assert_eq!(audio_tokens(&wav(3)), 30);
        assert_eq!(audio_tokens(&wav(3)[..64_001]), 30);
        assert_eq!(audio_tokens(&[0; 64_000]), 640, "8 kbit/s");
        assert_eq!(audio_tokens(b""), 1);
        let mut slow = wav(1);
        slow[28..32].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(audio_tokens(&slow), 320, "a head that claims too much");
    }

    #[test]
    fn every_form_of_answer_is_read() {
        let tokenizer = Arc::new(Tokenizer::named("o200k_base"));
        let read = |media: &str, body: &str| reply(media, body.as_bytes(), &tokenizer);
        let answer = |usage, counted| Reply::Answer { usage, counted, served_model: None };
        assert_eq!(read("text/plain", "Hello, world!"), answer(None, 4));
        let json = "application/json";
        assert_eq!(read(json, r#"{"text":"Hello, world!"}"#), answer(None, 4));
        let audio = |tokens, output| Usage { audio_input: tokens, ..Usage::of_tokens(0, output) };
        assert_eq!(
            read(json, r#"{"text":"Hello, world!","usage":{"type":"duration","seconds":3}}"#),
            answer(Some(audio(30, 0)), 4)
        );
        assert_eq!(read(json, r#"{"text":"Hello, world!","duration":2.4}"#), answer(Some(audio(30, 4)), 4));
        assert_eq!(read(json, r#"{"error":{"message":"no"}}"#), Reply::Error("no".to_owned()));
        assert_eq!(read(json, "Hello"), Reply::Garbage);
    }

    #[test]
    fn only_the_boundary_of_the_head_counts() {
        let body = "--x\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nm\r\n--x--\r\n";
        let form = form(body.as_bytes()).unwrap();
        assert!(check_head(Some("multipart/form-data; boundary=x"), &form).is_ok());
        for other in [None, Some("multipart/form-data; boundary=y"), Some("application/json")] {
            assert!(check_head(other, &form).is_err(), "{other:?}");
        }
        assert_eq!(read(&form).unwrap_err().param, "file");
    }
}
