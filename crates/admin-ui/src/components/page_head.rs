//! What stands above every page: the way, the name, the state, what can be done, facts.

use leptos::prelude::*;

use super::crumbs::{Crumb, Crumbs};
use crate::browser;
use crate::i18n::language;

/// The head of a page; it also names the window.
#[component]
pub fn PageHead(
    /// The way here; empty for a page of the main navigation.
    #[prop(optional)]
    way: Vec<Crumb>,
    /// The heading.
    #[prop(into)]
    title: String,
    /// The heading is an id.
    #[prop(optional)]
    is_id: bool,
    /// Beside the heading.
    #[prop(optional)]
    badge: Option<AnyView>,
    /// Buttons.
    #[prop(optional)]
    actions: Option<AnyView>,
    /// Facts under the heading; one without a name is the id.
    #[prop(optional)]
    facts: Vec<(&'static str, AnyView)>,
    /// A sentence under the heading.
    #[prop(default = "")]
    hint: &'static str,
) -> impl IntoView {
    browser::set_title(&title);
    let name = if is_id { view! { <span class="mono">{title}</span> }.into_any() } else { title.into_any() };
    let fact = |(name, value): (&'static str, AnyView)| {
        let (class, name) = if name.is_empty() { ("vh", language().id_word()) } else { ("", name) };
        view! { <div><dt class=class>{name}</dt><dd>{value}</dd></div> }.into_any()
    };
    let facts = facts.into_iter().map(fact).collect::<Vec<_>>();
    view! {
        <header class="page-head">
            {(!way.is_empty()).then(|| view! { <Crumbs way=way/> })}
            <div class="page-title">
                <h1>{name}</h1>
                {badge}
                {actions.map(|actions| view! { <div class="actions">{actions}</div> })}
            </div>
            {(!hint.is_empty()).then(|| view! { <p class="small muted">{hint}</p> })}
            {(!facts.is_empty()).then(|| view! { <dl class="facts">{facts}</dl> })}
        </header>
    }
}
