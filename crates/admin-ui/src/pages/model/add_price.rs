//! A new price version.

use api_types::Decimal;
use api_types::price::{CreatePrice, Price};
use domain::usage::Kind;
use leptos::prelude::*;

use super::prices::price_of;
use crate::api::models;
use crate::components::field::{AmountField, TextField};
use crate::components::toasts::{Toast, Toasts};
use crate::i18n::language;
use crate::pages::form::{Form, filled, typed};
use crate::pages::form_dialog::FormDialog;
use crate::pages::tenant::wire;

/// The dialog begins with the latest version's prices.
#[component]
pub fn AddPriceDialog(
    /// The model.
    model: String,
    /// The latest version.
    latest: Option<Price>,
    /// It is done or unwanted.
    on_close: Callback<()>,
    /// It was added.
    on_added: Callback<()>,
) -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let form = Form::new();
    let begin = |kind: Kind| {
        let price = latest.as_ref().and_then(|latest| price_of(latest, kind)).map(ToString::to_string);
        typed(price.unwrap_or_default())
    };
    let prices = Kind::ALL.map(|kind| (kind, begin(kind)));
    let from = typed("");
    let weights = latest.and_then(|latest| latest.token_weights);
    let submit = Callback::new(move |()| {
        let price = |wanted: Kind| -> Option<Decimal> {
            let (_, value) = prices.into_iter().find(|(kind, _)| *kind == wanted)?;
            filled(value).map(|text| wire::amount(&text))
        };
        let body = CreatePrice {
            valid_from: wire::instant(from),
            input: price(Kind::Input),
            cached_input: price(Kind::CachedInput),
            cache_write_5m: price(Kind::CacheWrite5m),
            cache_write_1h: price(Kind::CacheWrite1h),
            output: price(Kind::Output),
            reasoning: price(Kind::Reasoning),
            audio_input: price(Kind::AudioInput),
            audio_output: price(Kind::AudioOutput),
            image: price(Kind::Image),
            per_request: price(Kind::Request),
            // Weights of tenants metered in tokens go on as they are.
            token_weights: weights.clone(),
        };
        let model = model.clone();
        form.send(async move { models::add_price(&model, &body).await }, move |_| {
            toasts.show(Toast::ok(t.price_added().to_owned(), None));
            on_added.run(());
            on_close.run(());
        });
    });
    let failure = form.failure;
    let field = move |(kind, value): (Kind, RwSignal<String>)| {
        view! { <AmountField name=kind.as_str() label=t.usage_kind(kind) unit="credit" value=value failure=failure/> }
            .into_any()
    };
    let fields = prices.into_iter().map(field).collect::<Vec<_>>();
    view! {
        <FormDialog title=t.new_price() form=form action=t.add_price().to_owned() on_submit=submit on_close=on_close>
            <TextField name="valid_from" label=t.valid_from() hint=t.valid_from_hint() value=from failure=failure kind="datetime-local"/>
            <div class="form-grid narrow">{fields}</div>
            <p class="hint small muted">{t.price_hint()}</p>
        </FormDialog>
    }
}
