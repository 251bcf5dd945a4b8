//! A model's price versions.

use api_types::Decimal;
use api_types::price::Price;
use domain::usage::Kind;
use leptos::prelude::*;

use super::add_price::AddPriceDialog;
use crate::api::models;
use crate::browser;
use crate::components::badge::{Badge, Tone};
use crate::components::button::{Button, opener};
use crate::components::card::Card;
use crate::components::states::Empty;
use crate::components::table::{Column, Row, Table, named, text};
use crate::components::written;
use crate::fetch::fetch;
use crate::format;
use crate::i18n::{Language, language};
use crate::pages::listed::listed;
use crate::session::Session;

/// The price of a kind; where it has none, the one of its base kind applies.
#[must_use]
pub const fn price_of(price: &Price, kind: Kind) -> Option<&Decimal> {
    match kind {
        Kind::Input => price.input.as_ref(),
        Kind::CachedInput => price.cached_input.as_ref(),
        Kind::CacheWrite5m => price.cache_write_5m.as_ref(),
        Kind::CacheWrite1h => price.cache_write_1h.as_ref(),
        Kind::Output => price.output.as_ref(),
        Kind::Reasoning => price.reasoning.as_ref(),
        Kind::AudioInput => price.audio_input.as_ref(),
        Kind::AudioOutput => price.audio_output.as_ref(),
        Kind::Image => price.image.as_ref(),
        Kind::Request => price.per_request.as_ref(),
    }
}

/// The versions, newest first, with a column for each kind that any of them prices.
#[component]
pub fn PricesCard(
    /// The model.
    model: String,
    /// A price was added.
    on_added: Callback<()>,
) -> impl IntoView {
    let t = language();
    let session = expect_context::<Session>();
    let id = StoredValue::new(model);
    let page = fetch(move || id.get_value(), |id| async move { models::prices(&id).await });
    let adding = RwSignal::new(None::<()>);
    let add = opener(adding, ());
    let table = move |items: Vec<Price>| {
        let kinds: Vec<Kind> =
            Kind::ALL.into_iter().filter(|kind| items.iter().any(|price| price_of(price, *kind).is_some())).collect();
        let mut columns = vec![Column::name(t.valid_from())];
        columns.extend(kinds.iter().map(|kind| Column::number(t.usage_kind(*kind))));
        columns.push(Column::state(t.state()));
        view! { <Table caption=t.price_versions() columns=columns rows=rows(t, items, &kinds) class="c3"/> }.into_any()
    };
    let empty =
        move || view! { <Empty icon="models" title=t.no_prices() hint=t.no_prices_hint()>""</Empty> }.into_any();
    let end = move || {
        session.may_operate().then(|| view! { <Button words=t.new_price() icon="plus" class="sm" on_press=add/> })
    };
    let added = Callback::new(move |()| {
        page.again();
        on_added.run(());
    });
    let close = Callback::new(move |()| adding.set(None));
    let latest = move || page.data.read_untracked().as_ref().and_then(|page| page.items.first().cloned());
    view! {
        <Card id="prices" title=t.price_versions() end=end.into_any()>
            {listed(page, 3, table, empty)}
            <p class="card-foot">{t.prices_hint()}</p>
        </Card>
        {move || adding.get().map(|()| view! {
            <AddPriceDialog model=id.get_value() latest=latest() on_close=close on_added=added/>
        })}
    }
}

fn rows(t: Language, mut items: Vec<Price>, kinds: &[Kind]) -> Vec<Row> {
    items.sort_by_key(|price| std::cmp::Reverse(price.valid_from));
    let now = browser::now_ms();
    let begins = |price: &Price| price.valid_from.instant().unix_timestamp().saturating_mul(1000);
    let in_force = items.iter().position(|price| begins(price) <= now);
    let row = |(index, price): (usize, Price)| {
        let (tone, words) = match in_force {
            Some(place) if place == index => (Tone::Ok, t.in_force()),
            Some(place) if place < index => (Tone::Neutral, t.superseded()),
            _ => (Tone::Live, t.to_come()),
        };
        let mut cells = vec![named(written::moment(price.valid_from, t, None), None, text(""))];
        cells.extend(kinds.iter().map(|kind| {
            text(price_of(&price, *kind).map_or_else(|| "–".to_owned(), |price| format::exact(price.as_str())))
        }));
        cells.push(view! { <Badge tone=tone text=words/> }.into_any());
        Row { class: if tone == Tone::Neutral { "off" } else { "" }, cells }
    };
    items.into_iter().enumerate().map(row).collect()
}
