//! Usage: what a request consumed, as disjoint counts by kind. Each count is charged at its own price, none twice.
//!
//! Providers report in different shapes: OpenAI's cached and reasoning tokens are parts of the prompt and the
//! completion, Anthropic's cached tokens come on top. The parsers here turn each shape into [`Usage`]. They take
//! whatever an upstream sends: an object that is missing, empty or makes no sense is `None` (a local count is charged
//! instead), never a panic and never a guess; explicit zeros are zeros.
//!
//! To add a provider's shape: one module below, a parser `from_x`, vectors beside it.

mod anthropic;
mod field;
mod openai;
mod rerank;
mod transcription;

use serde::{Deserialize, Serialize};

pub use anthropic::{AnthropicStream, from_anthropic};
pub use openai::{from_embeddings, from_openai, from_responses};
pub use rerank::from_rerank;
pub use transcription::{AUDIO_TOKENS_PER_SECOND, from_transcription, of_duration};

/// The largest count that is believed: 2^53 - 1. More makes the whole report unusable.
pub const MAX_COUNT: u64 = (1 << 53) - 1;

/// A kind of consumption with a price of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// Prompt tokens that were neither cached nor audio.
    #[serde(rename = "input")]
    Input,
    /// Prompt tokens read from a cache.
    #[serde(rename = "cached_input")]
    CachedInput,
    /// Prompt tokens written to a cache that lives 5 minutes.
    #[serde(rename = "cache_write_5m")]
    CacheWrite5m,
    /// Prompt tokens written to a cache that lives 1 hour.
    #[serde(rename = "cache_write_1h")]
    CacheWrite1h,
    /// Answer tokens that were neither reasoning nor audio.
    #[serde(rename = "output")]
    Output,
    /// Reasoning tokens, hidden or shown.
    #[serde(rename = "reasoning")]
    Reasoning,
    /// Prompt tokens of audio.
    #[serde(rename = "audio_input")]
    AudioInput,
    /// Answer tokens of audio.
    #[serde(rename = "audio_output")]
    AudioOutput,
    /// Images made, each.
    #[serde(rename = "image")]
    Image,
    /// Requests, each.
    #[serde(rename = "per_request")]
    Request,
}

impl Kind {
    /// Every kind, in the order of the price list.
    pub const ALL: [Self; 10] = [
        Self::Input,
        Self::CachedInput,
        Self::CacheWrite5m,
        Self::CacheWrite1h,
        Self::Output,
        Self::Reasoning,
        Self::AudioInput,
        Self::AudioOutput,
        Self::Image,
        Self::Request,
    ];

    /// The name of its price in JSON and SQL.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::CachedInput => "cached_input",
            Self::CacheWrite5m => "cache_write_5m",
            Self::CacheWrite1h => "cache_write_1h",
            Self::Output => "output",
            Self::Reasoning => "reasoning",
            Self::AudioInput => "audio_input",
            Self::AudioOutput => "audio_output",
            Self::Image => "image",
            Self::Request => "per_request",
        }
    }

    /// The kind whose price is taken where this one has none; a base kind is its own base.
    #[must_use]
    pub const fn base(self) -> Self {
        match self {
            Self::Input | Self::CachedInput | Self::CacheWrite5m | Self::CacheWrite1h | Self::AudioInput => Self::Input,
            Self::Output | Self::Reasoning | Self::AudioOutput => Self::Output,
            Self::Image => Self::Image,
            Self::Request => Self::Request,
        }
    }

    /// True for kinds counted in tokens, priced per 1 000 000; the others are priced each.
    #[must_use]
    pub const fn is_tokens(self) -> bool {
        !matches!(self, Self::Image | Self::Request)
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What one request consumed. The counts are disjoint: a cached token is in `cached_input` and not in `input`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Prompt tokens that were neither cached nor audio.
    pub input: u64,
    /// Prompt tokens read from a cache.
    pub cached_input: u64,
    /// Prompt tokens written to a 5 minute cache.
    pub cache_write_5m: u64,
    /// Prompt tokens written to a 1 hour cache.
    pub cache_write_1h: u64,
    /// Answer tokens that were neither reasoning nor audio.
    pub output: u64,
    /// Reasoning tokens.
    pub reasoning: u64,
    /// Prompt tokens of audio.
    pub audio_input: u64,
    /// Answer tokens of audio.
    pub audio_output: u64,
    /// Images made.
    pub images: u64,
    /// Requests: 1 in every parsed or counted usage, so that a price per request applies.
    pub requests: u64,
}

impl Usage {
    /// One request with `input` prompt tokens and `output` answer tokens: the local count's usual form.
    #[must_use]
    pub fn of_tokens(input: u64, output: u64) -> Self {
        Self { input, output, requests: 1, ..Self::default() }
    }

    /// The count of a kind.
    #[must_use]
    pub const fn get(&self, kind: Kind) -> u64 {
        match kind {
            Kind::Input => self.input,
            Kind::CachedInput => self.cached_input,
            Kind::CacheWrite5m => self.cache_write_5m,
            Kind::CacheWrite1h => self.cache_write_1h,
            Kind::Output => self.output,
            Kind::Reasoning => self.reasoning,
            Kind::AudioInput => self.audio_input,
            Kind::AudioOutput => self.audio_output,
            Kind::Image => self.images,
            Kind::Request => self.requests,
        }
    }

    /// Sets the count of a kind.
    pub const fn set(&mut self, kind: Kind, count: u64) {
        *match kind {
            Kind::Input => &mut self.input,
            Kind::CachedInput => &mut self.cached_input,
            Kind::CacheWrite5m => &mut self.cache_write_5m,
            Kind::CacheWrite1h => &mut self.cache_write_1h,
            Kind::Output => &mut self.output,
            Kind::Reasoning => &mut self.reasoning,
            Kind::AudioInput => &mut self.audio_input,
            Kind::AudioOutput => &mut self.audio_output,
            Kind::Image => &mut self.images,
            Kind::Request => &mut self.requests,
        } = count;
    }

    /// All prompt tokens, cached and written ones included; held at `u64::MAX`.
    #[must_use]
    pub const fn prompt_tokens(&self) -> u64 {
        self.input
            .saturating_add(self.cached_input)
            .saturating_add(self.cache_write_5m)
            .saturating_add(self.cache_write_1h)
            .saturating_add(self.audio_input)
    }

    /// All answer tokens, reasoning included; held at `u64::MAX`.
    #[must_use]
    pub const fn completion_tokens(&self) -> u64 {
        self.output.saturating_add(self.reasoning).saturating_add(self.audio_output)
    }

    /// All tokens; held at `u64::MAX`.
    #[must_use]
    pub const fn total_tokens(&self) -> u64 {
        self.prompt_tokens().saturating_add(self.completion_tokens())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_its_own_count() {
        for kind in Kind::ALL {
            let mut usage = Usage::default();
            usage.set(kind, 5);
            for other in Kind::ALL {
                assert_eq!(usage.get(other), if other == kind { 5 } else { 0 }, "{kind} {other}");
            }
            assert_eq!(usage.total_tokens(), if kind.is_tokens() { 5 } else { 0 });
            assert_eq!(kind.base().base(), kind.base());
        }
    }
}
