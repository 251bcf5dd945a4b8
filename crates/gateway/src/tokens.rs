//! Counting tokens of text with a model's own vocabulary.

use std::collections::HashMap;
use std::sync::Arc;

use tiktoken_rs::CoreBPE;

/// Longest run without white space given to the tokenizer in one piece: its cost and memory grow with the piece.
const RUN_MAX: usize = 8 * 1024;
/// Bytes of a growing text that a vocabulary of a file counts again, rather than cut it.
const SELDOM: usize = 4 * 1024;
/// Longest text given to the tokenizer in one piece.
const PIECE_MAX: usize = 64 * 1024;

/// How a model's text is counted.
#[derive(Clone)]
pub enum Tokenizer {
    /// By one of OpenAI's vocabularies.
    Bpe(&'static CoreBPE),
    /// By a vocabulary read from a `tokenizer.json`.
    File(Arc<tokenizers::Tokenizer>),
    /// One token a character: for models that are priced so.
    Characters,
    /// No vocabulary known: one token a byte. An upper bound for every tokenizer that covers bytes, because a token
    /// stands for at least one byte of the text.
    Bytes,
}

impl std::fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Bpe(_) => "Bpe",
            Self::File(_) => "File",
            Self::Characters => "Characters",
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
            "characters" => Self::Characters,
            _ => Self::Bytes,
        }
    }

    /// Tokens of `text`. Text longer than 64 KiB is counted in pieces cut at white space, and a run of over 8 KiB without any in
    /// pieces of that length; both can only raise the count, by less than one token a cut.
    #[must_use]
    pub fn count(&self, text: &str) -> u64 {
        if let Self::Characters = self {
            return u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
        }
        if let Self::Bytes = self {
            return length(text);
        }
        let mut tokens = 0_u64;
        let mut rest = text;
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(cut(rest));
            tokens = tokens.saturating_add(self.count_piece(piece));
            rest = after;
        }
        tokens
    }

    fn count_piece(&self, piece: &str) -> u64 {
        let counted = match self {
            Self::Bpe(bpe) => Some(bpe.count_ordinary(piece)),
            Self::File(file) => file.encode_fast(piece, false).ok().map(|encoding| encoding.len()),
            Self::Characters | Self::Bytes => None,
        };
        counted.map_or_else(|| length(piece), |tokens| u64::try_from(tokens).unwrap_or(u64::MAX))
    }

    /// Can its count differ from the provider's by more than a little?
    #[must_use]
    pub const fn is_rough(&self) -> bool {
        matches!(self, Self::Bytes | Self::Characters)
    }
}

/// The vocabularies that were read from files, by the names that models use.
#[derive(Debug, Clone, Default)]
pub struct Vocabularies(HashMap<String, Tokenizer>);

impl Vocabularies {
    /// Reads each `NAME=PATH`, a `tokenizer.json` of Hugging Face's.
    ///
    /// # Errors
    /// What is wrong with which of them.
    pub fn read(files: &[String]) -> Result<Self, String> {
        let mut read = HashMap::new();
        for file in files {
            let (name, path) = file
                .split_once('=')
                .filter(|(name, path)| !name.is_empty() && !path.is_empty())
                .ok_or_else(|| format!("`{file}` must be NAME=PATH"))?;
            let mut tokenizer = tokenizers::Tokenizer::from_file(path).map_err(|why| format!("{path}: {why}"))?;
            // Files may say that a text is cut or filled up to a length: here it is only counted.
            tokenizer.with_truncation(None).map_err(|why| format!("{path}: {why}"))?;
            tokenizer.with_padding(None);
            read.insert(name.to_owned(), Tokenizer::File(Arc::new(tokenizer)));
        }
        Ok(Self(read))
    }

    /// The tokenizer named in a model's `tokenizer` field: that of a file, else [`Tokenizer::named`].
    #[must_use]
    pub fn named(&self, name: &str) -> Tokenizer {
        self.0.get(name).cloned().unwrap_or_else(|| Tokenizer::named(name))
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
            // A vocabulary of a file may mark a text's beginning, so that each cut adds a token: it is cut seldom.
            let may_cut = self.open.len() > SELDOM || !matches!(*self.tokenizer, Tokenizer::File(_));
            if let Some(cut) = safe_cut(&self.open).filter(|_| may_cut) {
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

    /// A vocabulary of a few words, which would cut texts to two tokens.
    const WORDS: &str = r#"{"version":"1.0","truncation":{"direction":"Right","max_length":2,"strategy":"LongestFirst","stride":0},
        "padding":null,"added_tokens":[],"normalizer":null,"pre_tokenizer":{"type":"Whitespace"},"post_processor":null,"decoder":null,
        "model":{"type":"WordLevel","vocab":{"[UNK]":0,"hello":1,"world":2,",":3},"unk_token":"[UNK]"}}"#;

    #[test]
    fn vocabularies_come_from_files() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), WORDS).unwrap();
        let of = |text: &str| Vocabularies::read(&[text.to_owned()]);
        let read = of(&format!("words={}", file.path().display())).unwrap();
        let tokenizer = read.named("words");
        assert_eq!(tokenizer.count("hello, world hello"), 4, "not cut to the file's length");
        assert_eq!(tokenizer.count(&"hello ".repeat(50_000)), 50_000);
        assert!(!tokenizer.is_rough());
        assert_eq!(read.named("o200k_base").count("Hello, world!"), 4);
        assert_eq!(read.named("no such thing").count("你好"), 6);
        let mut running = RunningCount::new(Arc::new(tokenizer));
        for _ in 0..3_000 {
            running.push("hello world ");
            running.exact();
        }
        assert_eq!(running.exact(), 6_000);
        for wrong in ["words", "=x", "words=", "words=/no/such/file"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
        std::fs::write(file.path(), "{}").unwrap();
        assert!(of(&format!("words={}", file.path().display())).is_err());
    }

    #[test]
    fn characters_are_counted_where_a_price_is_by_the_character() {
        assert_eq!(Tokenizer::named("characters").count("你好, a"), 5);
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
