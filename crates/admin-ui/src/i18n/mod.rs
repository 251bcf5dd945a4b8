//! English and Chinese. Every text is declared once with both readings side by side, so a missing one does not compile.
//!
//! To add a text: one line in the module of its page. To add a language: one column.

use leptos::prelude::*;

use crate::browser;

/// Declares texts as methods of [`Language`].
macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident: $en:literal | $zh:literal;)+) => {
        impl crate::i18n::Language {
            $(
                $(#[$doc])*
                #[doc = concat!("“", $en, "”")]
                #[must_use]
                pub const fn $name(self) -> &'static str {
                    match self { Self::En => $en, Self::Zh => $zh }
                }
            )+
        }
        #[cfg(test)]
        pub(crate) const TEXTS: &[(&str, &str, &str)] = &[$((stringify!($name), $en, $zh),)+];
    };
}

pub mod bench;
pub mod catalog;
pub mod forms;
pub mod govern;
pub mod phrases;
pub mod problems;
pub mod requests;
pub mod sentences;
pub mod settings;
pub mod shell;
pub mod tenants;
pub mod told;
pub mod watch;
pub mod webhooks;

const STORED: &str = "tollgate.language";

/// A language of the console.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// English.
    En,
    /// Chinese, simplified.
    Zh,
}

impl Language {
    /// The one the page was opened with.
    #[must_use]
    pub fn of_page() -> Self {
        if browser::root_language().starts_with("zh") { Self::Zh } else { Self::En }
    }

    /// For `lang` attributes.
    #[must_use]
    pub const fn tag(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh",
        }
    }

    /// For the browser's calendar; English dates put the day first, as the console's look does.
    #[must_use]
    pub const fn locale(self) -> &'static str {
        match self {
            Self::En => "en-GB",
            Self::Zh => "zh-CN",
        }
    }
}

/// The language chosen, shared by the whole console. A change builds the page anew, so texts need not be reactive.
#[derive(Debug, Clone, Copy)]
pub struct LanguageChoice(RwSignal<Language>);

impl LanguageChoice {
    /// The page's language; `head.js` has decided it already.
    #[must_use]
    pub fn new() -> Self {
        Self(RwSignal::new(Language::of_page()))
    }

    /// The present language; tracks.
    #[must_use]
    pub fn get(self) -> Language {
        self.0.get()
    }

    /// Changes the language, and remembers it.
    pub fn choose(self, language: Language) {
        browser::set_root_attribute("lang", Some(language.tag()));
        browser::store(STORED, Some(language.tag()));
        self.0.set(language);
    }
}

impl Default for LanguageChoice {
    fn default() -> Self {
        Self::new()
    }
}

/// The language of the present view.
#[must_use]
pub fn language() -> Language {
    expect_context::<Language>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_has_both_readings() {
        for (name, en, zh) in [
            bench::TEXTS,
            catalog::TEXTS,
            forms::TEXTS,
            govern::TEXTS,
            requests::TEXTS,
            settings::TEXTS,
            shell::TEXTS,
            tenants::TEXTS,
            watch::TEXTS,
            webhooks::TEXTS,
        ]
        .concat()
        {
            assert!(!en.trim().is_empty() && !zh.trim().is_empty(), "{name} lacks a reading");
            let chinese = zh.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
            assert!(chinese || en == zh, "{name} is not translated: {zh}");
            assert!(!en.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c)), "{name} is not English: {en}");
        }
    }
}
