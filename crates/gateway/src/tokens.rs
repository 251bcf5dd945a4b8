//! Counting tokens of text with a model's own vocabulary.

use std::sync::Arc;

use tiktoken_rs::CoreBPE;

/// Longest run without white space given to the tokenizer in one piece: its cost and memory grow with the piece.
const RUN_MAX: usize = 8 * 1024;
/// Longest text given to the tokenizer in one piece.
const PIECE_MAX: usize = 64 * 1024;

/// How a model's text is counted.
#[derive(Clone)]
pub enum Tokenizer {
    /// By one of OpenAI's vocabularies.
    Bpe(&'static CoreBPE),
    /// No vocabulary known: one token a byte. An upper bound for every tokenizer that covers bytes, because a token
    /// stands for at least one byte of the text.
    Bytes,
}

impl std::fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Bpe(_) => "Bpe",
            Self::Bytes => "Bytes",
        })
    }
}

impl Tokenizer {
    /// The tokenizer named in a model's `tokenizer` field. An unknown name counts bytes.
    #[must_use]
    pub fn named(name: &str) -> Self {
        match name {
            "o200k_base" | "o200k" | "o200k_harmony" => Self::Bpe(tiktoken_rs::o200k_base_singleton()),
            "cl100k_base" | "cl100k" => Self::Bpe(tiktoken_rs::cl100k_base_singleton()),
            "p50k_base" => Self::Bpe(tiktoken_rs::p50k_base_singleton()),
            "r50k_base" | "gpt2" => Self::Bpe(tiktoken_rs::r50k_base_singleton()),
            _ => Self::Bytes,
        }
    }

    /// Tokens of `text`. Text longer than 64 KiB is counted in pieces cut at white space, and a run of over 8 KiB without any in
    /// pieces of that length; both can only raise the count, by less than one token a cut.
    #[must_use]
    pub fn count(&self, text: &str) -> u64 {
        let Self::Bpe(bpe) = self else { return length(text) };
        let mut tokens = 0;
        let mut rest = text;
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(cut(rest));
            tokens += u64::try_from(bpe.count_ordinary(piece)).unwrap_or(u64::MAX);
            rest = after;
        }
        tokens
    }
}

fn length(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX)
}

/// Where the first piece of `text` ends: before white space, so that a word keeps the space in front of it.
fn cut(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut run = 0;
    let mut last_space = 0;
    for (at, byte) in bytes.iter().enumerate() {
        if byte.is_ascii_whitespace() {
            run = 0;
            last_space = at;
        } else {
            run += 1;
        }
        let end = if at + 1 >= PIECE_MAX && last_space > 0 {
            last_space
        } else if run >= RUN_MAX {
            at + 1
        } else {
            continue;
        };
        return (1..=end).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(text.len());
    }
    text.len()
}

/// Counts text that arrives bit by bit, as if it were counted in one piece, without keeping it all.
#[derive(Debug, Clone)]
pub struct RunningCount {
    tokenizer: Arc<Tokenizer>,
    counted: u64,
    /// Text behind the last safe place to cut, not yet in `counted`.
    open: String,
    /// Bytes of `open` at the last exact count, and that count.
    known: (usize, u64),
}

impl RunningCount {
    /// Nothing counted yet.
    #[must_use]
    pub fn new(tokenizer: Arc<Tokenizer>) -> Self {
        Self { tokenizer, counted: 0, open: String::new(), known: (0, 0) }
    }

    /// Appends text.
    pub fn push(&mut self, text: &str) {
        self.open.push_str(text);
        if self.open.len() > PIECE_MAX {
            self.exact();
        }
    }

    /// Adds tokens that stand for something else than text.
    pub fn add(&mut self, tokens: u64) {
        self.counted = self.counted.saturating_add(tokens);
    }

    /// At least the true count and cheap: a byte not yet counted is taken for a token.
    #[must_use]
    pub fn upper_bound(&self) -> u64 {
        let new = u64::try_from(self.open.len() - self.known.0).unwrap_or(u64::MAX);
        self.counted.saturating_add(self.known.1).saturating_add(new)
    }

    /// The true count.
    pub fn exact(&mut self) -> u64 {
        if self.known.0 != self.open.len() {
            if let Some(cut) = safe_cut(&self.open) {
                self.counted = self.counted.saturating_add(self.tokenizer.count(&self.open[..cut]));
                self.open.drain(..cut);
            }
            self.known = (self.open.len(), self.tokenizer.count(&self.open));
        }
        self.counted.saturating_add(self.known.1)
    }
}

/// The last place where no vocabulary joins what stands before and after: in front of a single space between two letters or digits;
/// of text that grew too long without one, its end.
fn safe_cut(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let found = (1..bytes.len().saturating_sub(1))
        .rev()
        .find(|at| bytes[*at] == b' ' && bytes[at - 1].is_ascii_alphabetic() && bytes[at + 1].is_ascii_alphabetic());
    found.or_else(|| (text.len() > RUN_MAX).then_some(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_texts_have_known_counts() {
        assert_eq!(Tokenizer::named("o200k_base").count("Hello, world!"), 4);
        assert_eq!(Tokenizer::named("cl100k_base").count("Hello, world!"), 4);
        assert_eq!(Tokenizer::named("cl100k_base").count("你好,世界"), 6);
        assert_eq!(Tokenizer::named("no such thing").count("你好"), 6);
        assert_eq!(Tokenizer::named("o200k_base").count(""), 0);
    }

    #[test]
    fn a_text_cut_anywhere_counts_as_one() {
        let text = "The quick brown fox, aged 12, jumps over 3 lazy dogs; 敏捷的棕色狐狸。\n\n    fn main() { println!(\"hi\"); } \u{1f469}\u{200d}\u{1f467} end of the story";
        for name in ["o200k_base", "cl100k_base", "other"] {
            let tokenizer = Arc::new(Tokenizer::named(name));
            let whole = tokenizer.count(text);
            for step in 1..9 {
                let mut running = RunningCount::new(Arc::clone(&tokenizer));
                let chars: Vec<char> = text.chars().collect();
                for part in chars.chunks(step) {
                    running.push(&part.iter().collect::<String>());
                    let bound = running.upper_bound();
                    assert!(bound >= running.exact());
                }
                assert_eq!(running.exact(), whole, "{name} in steps of {step}");
            }
        }
    }

    #[test]
    fn hostile_runs_are_counted_in_bounded_pieces() {
        let run = "a".repeat(1_000_000);
        let tokens = Tokenizer::named("o200k_base").count(&run);
        assert!((100_000..=1_000_000).contains(&tokens), "{tokens}");
        let words = "word ".repeat(100_000);
        assert_eq!(Tokenizer::named("o200k_base").count(&words), 100_001);
    }
}
