//! The three states of a page part beside its data: loading, empty, error.

use leptos::prelude::*;

use super::icon::Icon;
use crate::api::Failure;
use crate::i18n::language;

/// A place holder of rows while nothing is known yet.
#[component]
pub fn Loading(
    /// How many rows.
    #[prop(default = 3)]
    rows: usize,
) -> impl IntoView {
    let row = |index: usize| {
        let class = ["skel w2", "skel w3", "skel w1"].get(index % 3).copied().unwrap_or("skel");
        view! { <li><span class=class></span></li> }
    };
    view! {
        <div role="status" class="vh">{language().loading()}</div>
        <ul class="items skeleton" aria-hidden="true">{(0..rows).map(row).collect_view()}</ul>
    }
}

/// Nothing there: what it is and how to begin.
#[component]
pub fn Empty(
    /// Pictures what would be there.
    icon: &'static str,
    /// What is missing.
    title: &'static str,
    /// What it is for.
    hint: &'static str,
    /// A button to begin, or nothing.
    children: Children,
) -> impl IntoView {
    view! { <div class="state"><Icon name=icon/><p class="state-title">{title}</p><p>{hint}</p>{children()}</div> }
}

/// It could not be loaded: why, the id to ask about, and another try.
#[component]
pub fn Failed(
    /// Why.
    failure: Failure,
    /// Asks again.
    on_again: Callback<()>,
) -> impl IntoView {
    let t = language();
    let facts = match &failure {
        Failure::Problem(problem) => Some((problem.code.clone(), problem.request_id.clone())),
        Failure::Unreachable | Failure::Unreadable { .. } => None,
    };
    view! {
        <div class="state bad" role="alert">
            <Icon name="warn"/>
            <p class="state-title">{t.could_not_load()}</p>
            <p>{t.failure(&failure)}</p>
            {facts.map(|(code, id)| view! {
                <p class="tiny">{t.code_word()} " " <span class="mono">{code}</span> ", " {t.request_id()} " " <span class="mono">{id}</span></p>
            })}
            <button class="btn" type="button" on:click=move |_| on_again.run(())><Icon name="refresh"/>{t.try_again()}</button>
        </div>
    }
}
