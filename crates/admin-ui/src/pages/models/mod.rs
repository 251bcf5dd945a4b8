//! Models with the prices in force.

pub mod form;

use api_types::Decimal;
use api_types::model::Model;
use leptos::prelude::*;

use crate::api::models;
use crate::components::badge::{Badge, Tone};
use crate::components::button::{Button, opener};
use crate::components::page_head::PageHead;
use crate::components::states::Empty;
use crate::components::table::{Column, Row, Table, named, text};
use crate::fetch::fetch;
use crate::format;
use crate::i18n::{Language, language};
use crate::pages::listed::listed;
use crate::router::Router;
use crate::session::Session;

use form::CreateModelDialog;

/// The list of models.
#[component]
pub fn ModelsPage() -> impl IntoView {
    let t = language();
    let session = expect_context::<Session>();
    let router = expect_context::<Router>();
    let page = fetch(|| (), |()| models::list());
    let creating = RwSignal::new(None::<()>);
    let create = opener(creating, ());
    let table = move |items: Vec<Model>| {
        let columns = vec![
            Column::name(t.model()),
            Column::text(t.does()),
            Column::number(t.kind_input()),
            Column::number(t.kind_cached_input()),
            Column::number(t.kind_output()),
            Column::aside(t.context_window()),
            Column::state(t.price()),
        ];
        let rows = items.into_iter().map(|model| row(t, model)).collect();
        view! { <Table caption=t.models_and_prices() columns=columns rows=rows class="c3"/> }.into_any()
    };
    let new = move || {
        session
            .may_operate()
            .then(|| view! { <Button words=t.new_model() icon="plus" class="primary" on_press=create/> })
    };
    let empty =
        move || view! { <Empty icon="models" title=t.no_models() hint=t.no_models_hint()>{new}</Empty> }.into_any();
    let made = Callback::new(move |model: Model| {
        creating.set(None);
        router.go(&format!("/models/{}", model.id));
    });
    let close = Callback::new(move |()| creating.set(None));
    view! {
        <PageHead title=t.models_and_prices() hint=t.models_page_hint() actions=new.into_any()/>
        <section class="card" aria-label=t.models_and_prices()>{listed(page, 6, table, empty)}</section>
        {move || creating.get().map(|()| view! { <CreateModelDialog on_close=close on_made=made/> })}
    }
}

fn row(t: Language, model: Model) -> Row {
    let price = model.price_in_force.as_ref();
    let of = |pick: fn(&api_types::price::Price) -> &Option<Decimal>| {
        let price = price.and_then(|price| pick(price).as_ref()).map(|price| format::exact(price.as_str()));
        text(price.unwrap_or_else(|| "–".to_owned()))
    };
    let (tone, words) = if price.is_some() { (Tone::Ok, t.in_force()) } else { (Tone::Warn, t.no_price()) };
    let cells = vec![of(|price| &price.input), of(|price| &price.cached_input), of(|price| &price.output)];
    let mut whole = vec![
        named(model.name, Some(format!("/models/{}", model.id)), text(model.tokenizer)),
        text(model.mode.as_str()),
    ];
    whole.extend(cells);
    whole.push(text(format::integer(model.context_window)));
    whole.push(view! { <Badge tone=tone text=words/> }.into_any());
    Row::new(whole)
}
