//! Icons and the patterns of quota bars, drawn once and referred to by name.

use leptos::prelude::*;

/// The symbols and patterns. Once a page, before anything that uses them.
#[component]
pub fn Sprite() -> impl IntoView {
    view! { <svg class="defs" aria-hidden="true" focusable="false" inner_html=include_str!("sprite.txt")></svg> }
}

/// An icon of the sprite. It is decoration: the name belongs to the control around it.
#[component]
pub fn Icon(
    /// Without the `i-`.
    name: &'static str,
) -> impl IntoView {
    view! { <svg class="icon" aria-hidden="true"><use href=format!("#i-{name}")></use></svg> }
}
