//! Tokens of a request's input, counted before the call.
//!
//! Text is counted with the model's vocabulary. What is no text has a documented bound, chosen so that providers
//! charge at most that much. What is only referred to (a file's id, an earlier response) may be as large as the
//! context window.

use crate::dialect::input::Input;
use crate::tokens::Tokenizer;

/// Tokens that frame each message: OpenAI's rule is 3, and 1 for the role.
pub const PER_MESSAGE: u64 = 4;
/// Tokens that open the answer.
pub const ANSWER_START: u64 = 3;
/// Tokens that frame each tool beside its JSON text.
pub const PER_TOOL: u64 = 16;
/// An image of low detail.
pub const IMAGE_LOW: u64 = 85;
/// An image of any other detail: 85 and 170 for each of at most 8 tiles; Anthropic's largest is 1 600.
pub const IMAGE_HIGH: u64 = 1_600;
/// Bytes of base64 audio that make one token: a 16 kbit/s recording has 2 700 such bytes a second and costs 10 tokens.
const AUDIO_BYTES_PER_TOKEN: usize = 100;
/// Most messages of one request.
pub const MESSAGES_MAX: usize = 100_000;

/// Sums up one request's input.
#[derive(Debug)]
pub struct Counter<'t> {
    tokenizer: &'t Tokenizer,
    context_window: u64,
    tokens: u64,
    audio: u64,
}

impl<'t> Counter<'t> {
    /// Nothing yet.
    #[must_use]
    pub const fn new(tokenizer: &'t Tokenizer, context_window: u64) -> Self {
        Self { tokenizer, context_window, tokens: 0, audio: 0 }
    }

    /// The sum; never less than 1.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.tokens.saturating_add(self.audio).max(1)
    }

    /// The sum by kind; never nothing.
    #[must_use]
    pub fn input(&self) -> Input {
        Input { text_tokens: self.tokens.max(u64::from(self.audio == 0)), audio_tokens: self.audio, ..Input::default() }
    }

    /// Tokens of a text that is not added.
    #[must_use]
    pub fn tokens_of(&self, text: &str) -> u64 {
        self.tokenizer.count(text)
    }

    /// Adds tokens.
    pub const fn add(&mut self, tokens: u64) {
        self.tokens = self.tokens.saturating_add(tokens);
    }

    /// Adds a text's tokens.
    pub fn text(&mut self, text: &str) {
        self.add(self.tokenizer.count(text));
    }

    /// Adds a JSON value: a string's words, or the JSON of anything else.
    pub fn value(&mut self, value: &str) {
        match serde_json::from_str::<String>(value) {
            Ok(text) => self.text(&text),
            Err(_) => self.text(value),
        }
    }

    /// Adds tools: their JSON and their frames.
    pub fn tools(&mut self, value: &str) {
        self.text(value);
        let listed = serde_json::from_str::<Vec<&serde_json::value::RawValue>>(value).map_or(0, |tools| tools.len());
        self.add(length(listed).saturating_mul(PER_TOOL));
    }

    /// Adds audio of so many bytes of base64.
    pub fn audio(&mut self, bytes: usize) {
        self.audio = self.audio.saturating_add(length(bytes / AUDIO_BYTES_PER_TOKEN + 1));
    }

    /// Adds something that is only referred to.
    pub const fn reference(&mut self) {
        self.add(self.context_window);
    }
}

/// A length as a count.
#[must_use]
pub fn length(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
