//! English or Chinese.

use leptos::prelude::*;

use crate::i18n::{Language, LanguageChoice, language};

/// Both languages by their own names, the present one marked.
#[component]
pub fn LanguageSwitch(
    /// In the foot of the drawer, on phones only.
    #[prop(optional)]
    in_drawer: bool,
) -> impl IntoView {
    let now = language();
    let choice = expect_context::<LanguageChoice>();
    let class = if in_drawer { "lang only-phone" } else { "lang" };
    let one = move |(language, words): (Language, &'static str)| {
        view! {
            <button type="button" lang=language.tag() aria-pressed=(now == language).to_string()
                on:click=move |_| choice.choose(language)>{words}</button>
        }
    };
    let english = if in_drawer { "English" } else { "EN" };
    view! {
        <div class=class role="group" aria-label=now.language_word()>
            {[(Language::En, english), (Language::Zh, "中文")].map(one).collect_view()}
        </div>
    }
}
