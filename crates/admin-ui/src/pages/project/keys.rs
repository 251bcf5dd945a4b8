//! The keys of a project.

use api_types::Page;
use api_types::key::{Key, KeyStatus};
use domain::Amount;
use leptos::prelude::*;

use crate::components::badge::{Badge, Tone};
use crate::components::gate::{Gate, Size};
use crate::components::icon::Icon;
use crate::components::states::{Empty, Failed, Loading};
use crate::components::written;
use crate::fetch::Fetch;
use crate::figures::Figures;
use crate::format;
use crate::i18n::language;
use crate::session::Session;

/// The keys with their bars and numbers.
#[component]
pub fn KeysCard(
    /// The project's tenant.
    tenant: String,
    /// The keys.
    keys: Fetch<Page<Key>>,
    /// A key is to be created.
    on_create: Callback<()>,
) -> impl IntoView {
    let t = language();
    let session = expect_context::<Session>();
    let tenant = StoredValue::new(tenant);
    let body = move || {
        match (keys.data.get(), keys.failure.get()) {
        (Some(page), _) if !page.items.is_empty() => view! { <KeysTable tenant=tenant.get_value() keys=page.items/> }.into_any(),
        (_, Some(failure)) => view! { <Failed failure=failure on_again=Callback::new(move |()| keys.again())/> }.into_any(),
        (Some(_), None) => view! {
            <Empty icon="key" title=t.no_keys() hint=t.no_keys_hint()>
                {session.may_own().then(|| view! { <button class="btn" type="button" on:click=move |_| on_create.run(())><Icon name="plus"/>{t.new_key()}</button> })}
            </Empty>
        }
        .into_any(),
        (None, None) => view! { <Loading rows=4/> }.into_any(),
    }
    };
    view! {
        <section class="card" aria-labelledby="h-keys">
            <div class="card-head"><h2 id="h-keys">{t.keys()}</h2></div>
            {body}
        </section>
    }
}

#[component]
fn KeysTable(tenant: String, keys: Vec<Key>) -> impl IntoView {
    let t = language();
    view! {
        <div class="table-wrap" tabindex="0" role="group" aria-labelledby="h-keys">
            <table role="table" class="table cards">
                <caption class="vh">{t.keys()}</caption>
                <thead role="rowgroup">
                    <tr role="row">
                        <th role="columnheader" scope="col">{t.key()}</th>
                        <th role="columnheader" scope="col">{t.state()}</th>
                        <th role="columnheader" scope="col">{t.quota()}</th>
                        <th role="columnheader" scope="col" class="r">{t.total()}</th>
                        <th role="columnheader" scope="col" class="r">{t.used()}</th>
                        <th role="columnheader" scope="col" class="r">{t.in_flight()}</th>
                        <th role="columnheader" scope="col" class="r">{t.remaining()}</th>
                    </tr>
                </thead>
                <tbody role="rowgroup">{keys.into_iter().map(|key| view! { <KeyRow tenant=tenant.clone() entry=key/> }).collect_view()}</tbody>
            </table>
        </div>
    }
}

#[component]
fn KeyRow(tenant: String, entry: Key) -> impl IntoView {
    let t = language();
    let numbers = entry.quota;
    let bar = Figures::read(&numbers, Amount::ZERO).ok();
    let bar = bar.map(|figures| view! { <Gate figures=figures about=entry.name.clone() size=Size::Mini/> });
    let limit = |text: Option<&api_types::Decimal>| match text {
        Some(text) => format::short(text.as_str()).into_any(),
        None => view! { <span class="faint">{t.no_limit()}</span> }.into_any(),
    };
    let (total, remaining) = (limit(numbers.total.as_ref()), limit(numbers.remaining.as_ref()));
    let (tone, state) = match entry.status {
        KeyStatus::Active => (Tone::Ok, t.active()),
        KeyStatus::Disabled => (Tone::Held, t.disabled()),
    };
    let last_used = t.used_last(entry.last_used_at.map(|at| written::moment(at, t, None)).as_deref());
    let href = format!("/tenants/{tenant}/projects/{}/keys/{}", entry.project_id, entry.id);
    let models = entry.models.map_or_else(|| t.every_model().to_owned(), |models| models.join(", "));
    view! {
        <tr role="row" class={if entry.status == KeyStatus::Disabled { "off" } else { "" }}>
            <th role="rowheader" scope="row" class="full">
                <a class="name" href=href>{entry.name}</a>
                <span class="under"><span class="mono">{entry.prefix}"…"</span>" · "{models}</span>
                <span class="under">{last_used}</span>
            </th>
            <td role="cell" class="corner"><Badge tone=tone text=state/></td>
            <td role="cell" class="bar-cell full">{bar}</td>
            <td role="cell" class="r" data-label=t.total()>{total}</td>
            <td role="cell" class="r" data-label=t.used()>{format::short(numbers.used.as_str())}</td>
            <td role="cell" class="r" data-label=t.in_flight()>{format::short(numbers.frozen.as_str())}</td>
            <td role="cell" class="r" data-label=t.remaining()>{remaining}</td>
        </tr>
    }
}
