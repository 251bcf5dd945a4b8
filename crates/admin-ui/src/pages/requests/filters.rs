//! What the list is narrowed down to.

use leptos::prelude::*;

use super::FILTERS;
use crate::api::Failure;
use crate::browser;
use crate::components::field::{AmountField, SelectField, TextField};
use crate::components::icon::Icon;
use crate::components::live::live;
use crate::format;
use crate::i18n::language;
use crate::pages::address::Address;
use crate::pages::form::typed;
use crate::router::Router;

/// The filters; they take effect when the form is sent.
#[component]
pub fn Filters(
    /// Where they are kept.
    address: Address,
    /// The list's failure: a filter that the API refuses says so at its field.
    failure: RwSignal<Option<Failure>>,
    /// Reads the list again.
    on_again: Callback<()>,
) -> impl IntoView {
    let t = language();
    let router = expect_context::<Router>();
    let id = typed("");
    let [model, from, to, least] = [(); 4].map(|()| typed(""));
    let outcome = typed(untrack(move || address.get("outcome")));
    // Gone back to, or cleared: the fields show what is in the address.
    Effect::new(move |_| {
        model.set(address.get("model"));
        from.set(browser::local_of_instant(&address.get("from")));
        to.set(browser::local_of_instant(&address.get("to")));
        least.set(address.get("min_charge"));
        outcome.set(address.get("outcome"));
    });
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        let wanted = id.get_untracked().trim().to_owned();
        if wanted.starts_with("req_") {
            router.go(&format!("/requests/{wanted}"));
            return;
        }
        let instant = |field: RwSignal<String>| browser::instant_of_local(&field.get_untracked()).unwrap_or_default();
        let mut changes = vec![
            ("model", model.get_untracked().trim().to_owned()),
            ("outcome", outcome.get_untracked()),
            ("from", instant(from)),
            ("to", instant(to)),
            ("min_charge", format::typed_amount(&least.get_untracked())),
        ];
        if !wanted.is_empty() {
            let name = match wanted.split('_').next() {
                Some("p") => "project_id",
                Some("k") => "key_id",
                _ => "tenant_id",
            };
            changes.push((name, wanted));
            id.set(String::new());
        }
        address.change(changes, false);
        on_again.run(());
    };
    let mut outcomes = vec![(String::new(), t.every_outcome().to_owned())];
    outcomes.extend(["final", "expired", "rolled_back"].map(|word| (word.to_owned(), t.outcome_word(word).to_owned())));
    view! {
        <form class="filter-form" role="search" aria-label=t.filters() novalidate on:submit=submit>
            <TextField name="tenant_id" label=t.request_or_tenant() value=id failure=failure/>
            <TextField name="model" label=t.model() value=model failure=failure/>
            <SelectField name="outcome" label=t.outcome() choices=outcomes value=outcome failure=failure/>
            <TextField name="from" label=t.from() value=from failure=failure kind="datetime-local"/>
            <TextField name="to" label=t.to() value=to failure=failure kind="datetime-local"/>
            <AmountField name="min_charge" label=t.least_charge() unit="credit" value=least failure=failure/>
            <button class="btn" type="submit"><Icon name="search"/>{t.filters()}</button>
        </form>
        <Chosen address=address/>
    }
}

/// Ids that the list is narrowed down to: each can be taken away.
#[component]
fn Chosen(address: Address) -> impl IntoView {
    let t = language();
    let one = move |(name, words): (&'static str, &'static str)| {
        let value = address.get(name);
        (!value.is_empty()).then(|| {
            view! {
                <button class="filter on" type="button" on:click=move |_| address.set(name, "")>
                    {words}" "<span class="mono">{format::short_id(&value)}</span><Icon name="x"/>
                </button>
            }
            .into_any()
        })
    };
    live(move || {
        let names = [("tenant_id", t.tenant()), ("project_id", t.project()), ("key_id", t.key())];
        let chips = names.into_iter().filter_map(one).collect::<Vec<_>>();
        let any = FILTERS.iter().any(|name| !address.get(name).is_empty());
        any.then(|| {
            view! {
                <div class="toolbar">
                    {chips}
                    <button class="btn ghost sm" type="button" on:click=move |_| address.clear(&FILTERS)>{t.clear_filters()}</button>
                </div>
            }
        })
    })
}
