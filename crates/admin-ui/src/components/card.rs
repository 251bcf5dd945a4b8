//! A part of a page with a heading.

use leptos::prelude::*;

/// A part of a page.
#[component]
pub fn Card(
    /// Makes the heading's id.
    id: &'static str,
    /// The heading.
    title: &'static str,
    /// Beside it, at the right.
    #[prop(optional)]
    end: Option<AnyView>,
    /// What it holds.
    children: Children,
) -> impl IntoView {
    let heading = format!("h-{id}");
    let named = heading.clone();
    view! {
        <section class="card" aria-labelledby=named>
            <div class="card-head"><h2 id=heading>{title}</h2>{end.map(|end| view! { <div class="end">{end}</div> })}</div>
            {children()}
        </section>
    }
}
