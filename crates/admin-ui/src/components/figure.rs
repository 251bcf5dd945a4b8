//! Amounts on the page.

use leptos::prelude::*;

use crate::format;

/// An amount with all of its decimals: two strong, the exact rest smaller.
#[component]
pub fn Exact(
    /// The API's decimal string.
    #[prop(into)]
    text: String,
) -> impl IntoView {
    let figure = format::figure(&text);
    view! { {figure.head}{(!figure.tail.is_empty()).then(|| view! { <span class="tail">{figure.tail}</span> })} }
}
