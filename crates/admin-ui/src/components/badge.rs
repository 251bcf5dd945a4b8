//! A state in a word, with a shape as well as a colour.

use leptos::prelude::*;

/// How a state is to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Circle: well.
    Ok,
    /// Triangle: look.
    Warn,
    /// Diamond: act.
    Bad,
    /// Ring: neither.
    Neutral,
    /// Bars: held.
    Held,
    /// Slashes: moving.
    Live,
}

impl Tone {
    /// The class that colours it.
    #[must_use]
    pub const fn class(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Bad => "bad",
            Self::Neutral | Self::Held => "",
            Self::Live => "live",
        }
    }

    const fn shape(self) -> &'static str {
        match self {
            Self::Ok => "M1 5a4 4 0 108 0 4 4 0 10-8 0z",
            Self::Warn => "M5 .8L9.6 9.2H.4z",
            Self::Bad => "M5 0l5 5-5 5-5-5z",
            Self::Neutral => "M5 1a4 4 0 100 8 4 4 0 000-8zm0 1.8a2.2 2.2 0 110 4.4 2.2 2.2 0 010-4.4z",
            Self::Held => "M1.5 1h2.6v8H1.5zM5.9 1h2.6v8H5.9z",
            Self::Live => "M0 9L4 1h2L2 9zM4 9l4-8h2L6 9z",
        }
    }
}

/// A state in a word.
#[component]
pub fn Badge(
    /// How it is to be taken.
    tone: Tone,
    /// The word.
    #[prop(into)]
    text: String,
    /// Without a background, inside a line of text.
    #[prop(optional)]
    plain: bool,
) -> impl IntoView {
    let class = format!("badge {}{}", tone.class(), if plain { " plain" } else { "" });
    view! {
        <span class=class>
            <svg viewBox="0 0 10 10" aria-hidden="true"><path d=tone.shape()></path></svg>
            {text}
        </span>
    }
}
