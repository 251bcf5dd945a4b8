//! Speech and transcriptions.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use serde_json::{Value, json};

use crate::{
    answer::{Answer, Counts},
    ask::{self, Ask, Refusal},
    form::Form,
    reel::{Cutter, Reel},
    stage::Stage,
};

/// Bytes of sound for one output token: 50 ms of 8-bit mono at 8 kHz.
const TOKEN_BYTES: u32 = 400;

pub(crate) fn read_speech(body: &Value) -> Result<Ask, Refusal> {
    let mut ask = Ask::of(body)?;
    let input = ask::text(body, "input");
    if input.is_empty() || ask::text(body, "voice").is_empty() {
        return Err(Refusal::bad("missing required parameter: 'input' and 'voice'"));
    }
    ask.text = input.to_owned();
    ask.prompt = ask.vocabulary().count(input);
    ask.stream = ask::text(body, "stream_format") == "sse";
    ask.more.format = ask::text(body, "response_format").to_owned();
    Ok(ask)
}

/// The content type of a sound format.
pub(crate) fn content_type(format: &str) -> &'static str {
    match format {
        "wav" => "audio/wav",
        "opus" => "audio/ogg",
        "aac" => "audio/aac",
        "flac" => "audio/flac",
        "pcm" => "audio/pcm",
        _ => "audio/mpeg",
    }
}

/// Usage of speech and transcriptions in tokens.
pub(crate) fn usage(counts: &Counts) -> Value {
    json!({
        "type": "tokens", "input_tokens": counts.prompt, "output_tokens": counts.output,
        "total_tokens": counts.prompt.saturating_add(counts.output),
        "input_token_details": {"text_tokens": counts.prompt.saturating_sub(counts.audio_in), "audio_tokens": counts.audio_in},
    })
}

fn silence(tokens: u32) -> Vec<u8> {
    vec![0x80; (tokens.saturating_mul(TOKEN_BYTES)) as usize]
}

/// Sound in pieces; there is no place for a usage in it.
pub(crate) fn speech(answer: &Answer<'_>) -> Result<Reel, Refusal> {
    let faults = &answer.script.faults;
    let mut cutter = Cutter::new(faults.packing, faults.breaks);
    if answer.ask.more.format == "wav" {
        // A stream of unknown length: the sizes are the largest there are.
        let header = b"RIFF\xff\xff\xff\xffWAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data\xff\xff\xff\xff";
        cutter.rest(header, 0)?;
    }
    for piece in answer.pieces() {
        if !cutter.content(&silence(piece.tokens), piece.tokens)? {
            break;
        }
    }
    Ok(cutter.finish()?)
}

pub(crate) fn speech_events(answer: &Answer<'_>) -> Result<Reel, Refusal> {
    let pieces = answer.pieces();
    let mut stage = Stage::new(answer.script, pieces.len());
    for piece in &pieces {
        let audio = STANDARD.encode(silence(piece.tokens));
        let event = json!({"type": "speech.audio.delta", "audio": audio}).to_string();
        if !stage.content(None, &event, piece.tokens)? {
            break;
        }
    }
    let mut done = json!({"type": "speech.audio.done"});
    if let Some(usage) = answer.report.value(usage) {
        done["usage"] = usage;
    }
    stage.last(None, &done.to_string())?;
    stage.finish()
}

pub(crate) fn read_transcription(content_type: &str, body: &Bytes) -> Result<Ask, Refusal> {
    let form = Form::read(content_type, body).map_err(Refusal::bad)?;
    let model = form.text("model");
    let Some(file) = form.file("file") else { return Err(Refusal::bad("missing required parameter: 'file'")) };
    if model.is_empty() {
        return Err(Refusal::bad("you must provide a model parameter"));
    }
    let mut ask = Ask {
        model: model.to_owned(),
        text: form.text("prompt").to_owned(),
        stream: form.text("stream") == "true",
        n: 1,
        ..Ask::default()
    };
    // Sound is taken for 16-bit mono at 16 kHz: 32 000 bytes a second, ten tokens a second.
    ask.more.seconds = u32::try_from(file.len().div_ceil(32_000)).unwrap_or(u32::MAX);
    ask.more.format = form.text("response_format").to_owned();
    ask.prompt = ask.vocabulary().count(&ask.text).saturating_add(ask.more.seconds.saturating_mul(10));
    Ok(ask)
}

/// What a transcription reports: seconds for the oldest model, tokens for the others.
pub(crate) fn transcription_usage(answer: &Answer<'_>) -> Option<Value> {
    let seconds = answer.ask.more.seconds;
    answer.report.value(|counts| {
        if answer.ask.model == "whisper-1" {
            json!({"type": "duration", "seconds": seconds})
        } else {
            usage(&Counts { audio_in: counts.prompt.min(seconds.saturating_mul(10)), ..*counts })
        }
    })
}

pub(crate) fn transcription(answer: &Answer<'_>) -> Value {
    let mut body = json!({"text": answer.text()});
    if answer.ask.more.format == "verbose_json" {
        body = json!({"task": "transcribe", "language": "english", "duration": answer.ask.more.seconds,
            "text": answer.text(), "segments": []});
    }
    if let Some(usage) = transcription_usage(answer) {
        body["usage"] = usage;
    }
    body
}

pub(crate) fn transcription_events(answer: &Answer<'_>) -> Result<Reel, Refusal> {
    let pieces = answer.pieces();
    let mut stage = Stage::new(answer.script, pieces.len());
    for piece in &pieces {
        let event = json!({"type": "transcript.text.delta", "delta": piece.text}).to_string();
        if !stage.content(None, &event, piece.tokens)? {
            break;
        }
    }
    let mut done = json!({"type": "transcript.text.done", "text": answer.text()});
    if let Some(usage) = transcription_usage(answer) {
        done["usage"] = usage;
    }
    stage.last(None, &done.to_string())?;
    stage.finish()
}
