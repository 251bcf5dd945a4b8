//! Token counts by the real vocabularies, and texts whose count is known beforehand.

use tiktoken_rs::{CoreBPE, cl100k_base_singleton, o200k_base_singleton};

/// The vocabulary of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vocabulary {
    /// GPT-4o and later, and every model whose vocabulary is not public.
    O200k,
    /// GPT-4, GPT-3.5 and the embedding models.
    Cl100k,
}

/// Names (or their beginnings) of models with the older vocabulary; names that only begin alike come first.
const BY_NAME: [(&str, Vocabulary); 6] = [
    ("gpt-4o", Vocabulary::O200k),
    ("gpt-4.", Vocabulary::O200k),
    ("gpt-4", Vocabulary::Cl100k),
    ("gpt-3.5", Vocabulary::Cl100k),
    ("text-embedding-", Vocabulary::Cl100k),
    ("cl100k", Vocabulary::Cl100k),
];

impl Vocabulary {
    /// The vocabulary of the model of this name.
    #[must_use]
    pub fn of_model(model: &str) -> Self {
        BY_NAME.iter().find(|(name, _)| model.starts_with(name)).map_or(Self::O200k, |(_, vocabulary)| *vocabulary)
    }

    fn encoder(self) -> &'static CoreBPE {
        match self {
            Self::O200k => o200k_base_singleton(),
            Self::Cl100k => cl100k_base_singleton(),
        }
    }

    /// Tokens of a text; text that looks like a special token counts as the text it is.
    #[must_use]
    pub fn count(self, text: &str) -> u32 {
        u32::try_from(self.encoder().count_ordinary(text)).unwrap_or(u32::MAX)
    }
}

/// Builds the tables of the usual vocabulary, so that the first request doesn't wait for it.
pub fn warm_up() {
    let _ = Vocabulary::O200k.count("warm");
}

/// Each word with its space is one token in both vocabularies, and none needs an escape in JSON.
const WORDS: [&str; 24] = [
    " answer",
    " from",
    " the",
    " provider",
    " that",
    " only",
    " exists",
    " for",
    " tests",
    " and",
    " counts",
    " every",
    " token",
    " it",
    " sends",
    " so",
    " a",
    " book",
    " can",
    " be",
    " checked",
    " against",
    " its",
    " own",
];

/// Appends words `from..to` (in tokens) of the endless answer.
pub fn write_words(text: &mut String, from: u32, to: u32) {
    for position in from..to {
        text.push_str(if position == 0 { "The" } else { WORDS[(position as usize - 1) % WORDS.len()] });
    }
}

/// Words `from..to` of the endless answer.
#[must_use]
pub fn words(from: u32, to: u32) -> String {
    let mut text = String::with_capacity((to.saturating_sub(from)) as usize * 8);
    write_words(&mut text, from, to);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_prefix_of_the_answer_has_as_many_tokens_as_it_says() {
        for count in (0..120).chain([1_000, 5_003]) {
            let text = words(0, count);
            assert_eq!(Vocabulary::O200k.count(&text), count, "{text}");
            assert_eq!(Vocabulary::Cl100k.count(&text), count, "{text}");
        }
    }

    #[test]
    fn pieces_join_to_the_whole() {
        assert_eq!(words(0, 7) + &words(7, 31), words(0, 31));
    }

    #[test]
    fn models_find_their_vocabulary() {
        assert_eq!(Vocabulary::of_model("gpt-4o-mini"), Vocabulary::O200k);
        assert_eq!(Vocabulary::of_model("gpt-4.1"), Vocabulary::O200k);
        assert_eq!(Vocabulary::of_model("gpt-4-turbo"), Vocabulary::Cl100k);
        assert_eq!(Vocabulary::of_model("claude-sonnet-4-5"), Vocabulary::O200k);
    }
}
