//! Parts of a page with addresses of their own.

use leptos::prelude::*;

/// A part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TabLink {
    /// Its words.
    pub words: &'static str,
    /// Its address.
    pub href: String,
    /// It is the one shown.
    pub here: bool,
    /// How many there are in it, once known.
    pub count: Option<Signal<Option<usize>>>,
}

/// The parts of a page.
#[component]
pub fn Tabs(
    /// Names them.
    label: &'static str,
    /// In order.
    tabs: Vec<TabLink>,
) -> impl IntoView {
    let one = |tab: TabLink| {
        let count = tab.count.map(|count| {
            view! { " " <span class="n">{move || count.get().map(|count| count.to_string())}</span> }.into_any()
        });
        view! { <a href=tab.href aria-current=tab.here.then_some("page")>{tab.words}{count}</a> }.into_any()
    };
    view! { <nav class="tabs" aria-label=label>{tabs.into_iter().map(one).collect::<Vec<_>>()}</nav> }
}
