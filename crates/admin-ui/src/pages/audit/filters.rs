//! What the list is narrowed down to.

use leptos::prelude::*;

use super::FILTERS;
use crate::api::Failure;
use crate::browser;
use crate::components::field::TextField;
use crate::components::icon::Icon;
use crate::components::live::live;
use crate::i18n::language;
use crate::pages::address::Address;
use crate::pages::form::typed;

/// The filters; they take effect when the form is sent.
#[component]
pub fn Filters(
    /// Where they are kept.
    address: Address,
    /// The list's failure: a filter that the API refuses says so at its field.
    failure: RwSignal<Option<Failure>>,
) -> impl IntoView {
    let t = language();
    let fields = FILTERS.map(|name| (name, typed("")));
    let is_time = |name: &str| name == "from" || name == "to";
    Effect::new(move |_| {
        for (name, field) in fields {
            let value = address.get(name);
            field.set(if is_time(name) { browser::local_of_instant(&value) } else { value });
        }
    });
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        let read = |(name, field): (&'static str, RwSignal<String>)| {
            let value = field.get_untracked().trim().to_owned();
            (name, if is_time(name) { browser::instant_of_local(&value).unwrap_or_default() } else { value })
        };
        address.change(fields.map(read).into(), false);
    };
    let words = [t.who(), t.what(), t.target_id(), t.tenant(), t.from(), t.to()];
    let field = move |((name, value), words): ((&'static str, RwSignal<String>), &'static str)| {
        let kind = if is_time(name) { "datetime-local" } else { "text" };
        view! { <TextField name=name label=words value=value failure=failure kind=kind/> }.into_any()
    };
    let inside = fields.into_iter().zip(words).map(field).collect::<Vec<_>>();
    let clear = live(move || {
        FILTERS.iter().any(|name| !address.get(name).is_empty()).then(|| {
            view! { <button class="btn ghost sm" type="button" on:click=move |_| address.clear(&FILTERS)>{t.clear_filters()}</button> }
        })
    });
    view! {
        <form class="filter-form" role="search" aria-label=t.filters() novalidate on:submit=submit>
            {inside}
            <div class="row"><button class="btn" type="submit"><Icon name="search"/>{t.filters()}</button>{clear}</div>
        </form>
    }
}
