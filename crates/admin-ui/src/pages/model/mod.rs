//! One model: its figures, its price versions, its targets.

mod add_price;
mod delete;
mod prices;
mod target_form;
mod targets;

use api_types::model::Model;
use leptos::prelude::*;

use crate::api::models;
use crate::components::badge::{Badge, Tone};
use crate::components::button::{Button, opener};
use crate::components::copy::Id;
use crate::components::crumbs::Crumb;
use crate::components::page_head::PageHead;
use crate::components::table::text;
use crate::fetch::{Fetch, fetch};
use crate::format;
use crate::i18n::{Language, language};
use crate::pages::listed::page;
use crate::pages::models::form::ChangeModelDialog;
use crate::place;
use crate::session::Session;

use delete::DeleteModelDialog;
use prices::PricesCard;
use targets::TargetsCard;

/// The dialog that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Change,
    Delete,
}

/// The page of one model.
#[component]
pub fn ModelPage() -> impl IntoView {
    let id = place::id_after("models");
    let model = fetch(move || id.get(), |id| async move { models::one(&id).await });
    page(
        model,
        |before, now| (before.id, before.version) == (now.id, now.version),
        move |known| view! { <Loaded model=known fetched=model/> }.into_any(),
    )
}

#[component]
fn Loaded(model: Model, fetched: Fetch<Model>) -> impl IntoView {
    let t = language();
    let session = expect_context::<Session>();
    let open = RwSignal::new(None::<Open>);
    let actions = move || {
        session.may_operate().then(|| {
            view! {
                <Button words=t.change_model() on_press=opener(open, Open::Change)/>
                <Button words=t.delete() class="danger" on_press=opener(open, Open::Delete)/>
            }
        })
    };
    let way = vec![Crumb::to(t.models_and_prices(), "/models"), Crumb::here(model.name.clone())];
    // A first price is added without the page being built anew.
    let badge = move || {
        let priced = fetched.data.read().is_some_and(|model| model.price_in_force.is_some());
        let (tone, words) = if priced { (Tone::Ok, t.in_force()) } else { (Tone::Warn, t.no_price()) };
        view! { <Badge tone=tone text=words/> }
    };
    let (title, facts, id) = (model.name.clone(), facts(t, &model), StoredValue::new(model.id.to_string()));
    let model = StoredValue::new(model);
    let again = Callback::new(move |()| fetched.again());
    let changed = Callback::new(move |model| fetched.data.set(model));
    let dialog = move || {
        let close = Callback::new(move |()| open.set(None));
        open.get().map(|which| match which {
            Open::Change => {
                view! { <ChangeModelDialog model=model.get_value() on_close=close on_changed=changed/> }.into_any()
            }
            Open::Delete => view! { <DeleteModelDialog model=model.get_value() on_close=close/> }.into_any(),
        })
    };
    view! {
        <PageHead way=way title=title badge=badge.into_any() actions=actions.into_any() facts=facts/>
        <PricesCard model=id.get_value() on_added=again/>
        <TargetsCard model=id.get_value()/>
        {dialog}
    }
}

fn facts(t: Language, model: &Model) -> Vec<(&'static str, AnyView)> {
    let mut facts = vec![
        ("", view! { <Id id=model.id.to_string()/> }.into_any()),
        (t.does(), text(model.mode.as_str())),
        (t.context_window(), text(format::integer(model.context_window))),
        (t.max_output(), text(format::integer(model.max_output_tokens))),
        (t.freeze_output(), text(format::integer(model.freeze_output_tokens))),
        (t.tokenizer(), text(model.tokenizer.clone())),
        (t.safety_factor(), text(model.safety_factor.to_string())),
    ];
    if model.hidden_reasoning {
        facts.push((t.kind_reasoning(), text(t.yes())));
    }
    facts
}
