//! Light, dark, or as the system says.

use leptos::prelude::*;

use crate::browser;

const STORED: &str = "tollgate.theme";

/// Which of each colour's two values is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    /// As the system says.
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

impl Theme {
    /// The stored choice; the system's where there is none.
    #[must_use]
    pub fn stored() -> Self {
        match browser::stored(STORED).as_deref() {
            Some("light") => Self::Light,
            Some("dark") => Self::Dark,
            _ => Self::System,
        }
    }

    /// The one that the switch goes to: system, light, dark, system.
    #[must_use]
    pub const fn next(self) -> Self {
        match self {
            Self::System => Self::Light,
            Self::Light => Self::Dark,
            Self::Dark => Self::System,
        }
    }

    const fn word(self) -> Option<&'static str> {
        match self {
            Self::System => None,
            Self::Light => Some("light"),
            Self::Dark => Some("dark"),
        }
    }
}

/// The choice, shared by the whole console.
#[derive(Debug, Clone, Copy)]
pub struct ThemeChoice(RwSignal<Theme>);

impl ThemeChoice {
    /// Reads the stored choice; `head.js` has applied it already.
    #[must_use]
    pub fn new() -> Self {
        Self(RwSignal::new(Theme::stored()))
    }

    /// The present choice; tracks.
    #[must_use]
    pub fn get(self) -> Theme {
        self.0.get()
    }

    /// Goes to the next one, shows and remembers it.
    pub fn switch(self) {
        let next = self.0.get_untracked().next();
        browser::set_root_attribute("data-theme", next.word());
        browser::store(STORED, next.word());
        self.0.set(next);
    }
}

impl Default for ThemeChoice {
    fn default() -> Self {
        Self::new()
    }
}
