//! What a request brings along, and what its answer may be, as far as that is known before the call.

/// Counted or bounded beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Input {
    /// Tokens of text, and of images read.
    pub text_tokens: u64,
    /// Tokens of audio.
    pub audio_tokens: u64,
    /// Images to be made.
    pub images: u64,
    /// The answer may be spoken.
    pub is_spoken: bool,
    /// The longest answer, in tokens per choice, where the request says so much and nothing sent upstream bounds it.
    pub answer_tokens: Option<u64>,
}

impl Input {
    /// All prompt tokens.
    #[must_use]
    pub const fn prompt_tokens(&self) -> u64 {
        self.text_tokens.saturating_add(self.audio_tokens)
    }
}
