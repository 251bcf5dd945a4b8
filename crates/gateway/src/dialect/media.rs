//! Streams of what is no chat: speech, transcripts, images. Their events differ in names, not in shape.

use std::sync::Arc;

use bytes::Bytes;
use domain::usage::{self, Usage};
use serde_json::{Value, json};

use crate::dialect::count::length;
use crate::dialect::images::PARTIAL_TOKENS;
use crate::dialect::speech;
use crate::dialect::watch::{Ending, Verdict, Watch, Words, message_of, usage_in_tail};
use crate::tokens::Tokenizer;
use crate::wire::sse::Piece;

/// Follows such a stream.
#[derive(Debug)]
pub struct Watcher {
    words: Words,
    usage: Option<Usage>,
    error: Option<String>,
    has_answer: bool,
    complete: bool,
    audio_bytes: u64,
    images: u64,
}

impl Watcher {
    /// Nothing seen yet.
    #[must_use]
    pub const fn new(tokenizer: Arc<Tokenizer>) -> Self {
        Self {
            words: Words::new(tokenizer),
            usage: None,
            error: None,
            has_answer: false,
            complete: false,
            audio_bytes: 0,
            images: 0,
        }
    }

    fn event(&mut self, data: &[u8]) {
        let Ok(event) = serde_json::from_slice::<Value>(data) else { return };
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
        if let Some(error) = event.get("error").filter(|error| !error.is_null()) {
            self.error = Some(message_of(error));
            return;
        }
        match kind {
            "error" => self.error = Some(message_of(&event)),
            "speech.audio.delta" => self.sound(event.get("audio").and_then(Value::as_str).unwrap_or_default()),
            "transcript.text.delta" => {
                self.has_answer = true;
                self.words.of(0).push(event.get("delta").and_then(Value::as_str).unwrap_or_default());
            }
            _ if kind.ends_with(".partial_image") => {
                self.has_answer = true;
                self.words.of(0).add(PARTIAL_TOKENS);
            }
            _ if kind.ends_with(".done") || kind.ends_with(".completed") => self.end(kind, event.get("usage")),
            _ => {}
        }
    }

    /// The event that ends it, or one image of several.
    fn end(&mut self, kind: &str, reported: Option<&Value>) {
        self.has_answer = true;
        self.complete = true;
        self.images += u64::from(kind.starts_with("image"));
        let usage = match kind.starts_with("speech") {
            true => reported.and_then(speech::usage),
            false => reported.and_then(usage::from_transcription),
        };
        if let Some(usage) = usage {
            self.usage = Some(Usage { images: self.images, ..usage });
        }
    }

    /// Counts sound in base64 by its bytes.
    fn sound(&mut self, base64: &str) {
        self.has_answer = true;
        let per_token = speech::bytes_per_token("");
        let before = self.audio_bytes.div_ceil(per_token);
        self.audio_bytes = self.audio_bytes.saturating_add(length(base64.len()).saturating_mul(3) / 4);
        self.words.of(0).add(self.audio_bytes.div_ceil(per_token) - before);
    }
}

impl Watch for Watcher {
    fn see(&mut self, piece: &Piece) -> Verdict {
        match piece {
            Piece::Event { data, .. } if data.is_empty() => {}
            Piece::Event { data, .. } if data.as_ref() == b"[DONE]" => {
                self.complete = true;
                return Verdict::Done;
            }
            Piece::Event { data, .. } => self.event(data),
            Piece::Part { tail, .. } => {
                self.has_answer = true;
                self.words.note_part();
                // Only the last event of an image, the finished one, has a usage.
                if let Some(reported) = tail.as_ref().and_then(|tail| usage_in_tail(tail)) {
                    self.end("image", Some(&reported));
                }
            }
            Piece::Rest(_) => {}
        }
        Verdict::Pass
    }

    fn words(&self) -> &Words {
        &self.words
    }

    fn words_mut(&mut self) -> &mut Words {
        &mut self.words
    }

    fn usage(&self) -> Option<Usage> {
        self.usage
    }

    fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    fn has_answer(&self) -> bool {
        self.has_answer
    }

    fn is_complete(&self) -> bool {
        self.complete
    }

    fn served_model(&self) -> Option<&str> {
        None
    }

    fn ending(&self, ending: Ending<'_>) -> Bytes {
        let stopped = ending.stopped.as_str();
        let event = json!({
            "type": "error", "x_tollgate": {"stopped": stopped},
            "error": {"type": "server_error", "code": stopped, "message": "the gateway ended this stream; call again"},
        });
        Bytes::from(format!("event: error\ndata: {event}\n\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::sse::Splitter;

    fn seen(stream: &str, held_max: usize) -> Watcher {
        let mut watcher = Watcher::new(Arc::new(Tokenizer::named("o200k_base")));
        let (mut splitter, mut pieces) = (Splitter::new(held_max), Vec::new());
        splitter.push(Bytes::copy_from_slice(stream.as_bytes()), &mut pieces);
        pieces.extend(splitter.finish());
        for piece in &pieces {
            watcher.see(piece);
        }
        watcher
    }

    #[test]
    fn transcripts_are_counted_and_their_report_is_read() {
        let delta = r#"{"type":"transcript.text.delta","delta":"Hello, world!"}"#;
        let done = r#"{"type":"transcript.text.done","text":"Hello, world!","usage":{"type":"tokens","input_tokens":14,"output_tokens":4,"total_tokens":18,"input_token_details":{"text_tokens":4,"audio_tokens":10}}}"#;
        let mut cut = seen(&format!("data: {delta}\n\n"), 1_000);
        assert_eq!((cut.words_mut().exact(), cut.usage(), cut.is_complete(), cut.has_answer()), (4, None, false, true));
        let whole = seen(&format!("data: {delta}\n\ndata: {done}\n\n"), 1_000);
        assert_eq!(whole.usage(), Some(Usage { audio_input: 10, ..Usage::of_tokens(4, 4) }));
        assert!(whole.is_complete());
    }

    #[test]
    fn sound_is_counted_by_its_bytes() {
        let delta = format!(r#"{{"type":"speech.audio.delta","audio":"{}"}}"#, "A".repeat(800));
        let mut watcher = seen(&format!("data: {delta}\n\ndata: {delta}\n\ndata: {delta}\n\n"), 100_000);
        assert_eq!(watcher.words_mut().exact(), 3, "1 800 bytes");
        let done = r#"{"type":"speech.audio.done","usage":{"input_tokens":9,"output_tokens":40,"total_tokens":49}}"#;
        let usage = Usage { audio_output: 40, ..Usage::of_tokens(9, 0) };
        assert_eq!(seen(&format!("data: {done}\n\n"), 1_000).usage(), Some(usage));
    }

    #[test]
    fn images_count_even_where_they_are_too_large_to_hold() {
        let partial = r#"{"type":"image_generation.partial_image","b64_json":"AAAA"}"#;
        let done = format!(
            r#"{{"type":"image_generation.completed","b64_json":"{}","usage":{{"input_tokens":9,"output_tokens":272,"total_tokens":281}}}}"#,
            "A".repeat(5_000)
        );
        for held_max in [100, 100_000] {
            let mut watcher = seen(&format!("data: {partial}\n\ndata: {done}\n\n"), held_max);
            assert_eq!(watcher.usage(), Some(Usage { images: 1, ..Usage::of_tokens(9, 272) }));
            assert_eq!(watcher.words_mut().exact(), 100);
        }
        let broken = seen("data: {\"type\":\"error\",\"error\":{\"message\":\"busy\"}}\n\n", 1_000);
        assert_eq!((broken.error(), broken.has_answer()), (Some("busy"), false));
    }
}
