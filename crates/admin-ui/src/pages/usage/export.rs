//! A list as a file.

use leptos::prelude::*;

use crate::api::platform::{self, Asked};
use crate::components::icon::Icon;
use crate::i18n::language;

/// Links that save a list, however long, as CSV and as JSON Lines.
#[component]
pub fn Exports(
    /// The export's path in the API.
    path: &'static str,
    /// What the list is narrowed down to.
    asked: Asked,
) -> impl IntoView {
    let t = language();
    let one = |format: &'static str, words: &'static str| {
        let href = platform::export(path, &asked, format);
        let label = t.save_as(words);
        view! { <a class="btn" href=href download="" aria-label=label><Icon name="download"/>{words}</a> }.into_any()
    };
    view! { {one("csv", "CSV")}{one("jsonl", "JSON Lines")} }
}
