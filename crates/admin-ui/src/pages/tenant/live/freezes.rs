//! Running freezes, and ending one by hand.

use api_types::live::{FreezeState, LiveFreeze, LiveFreezes};
use api_types::tenant::Reason;
use leptos::prelude::*;

use crate::api::live;
use crate::components::badge::{Badge, Tone};
use crate::components::button::Button;
use crate::components::card::Card;
use crate::components::field::TextField;
use crate::components::states::Empty;
use crate::components::table::{Column, Row, Table, mono, named, text};
use crate::components::toasts::{Toast, Toasts};
use crate::components::written;
use crate::fetch::Fetch;
use crate::format;
use crate::i18n::{Language, language};
use crate::pages::form::{Form, typed};
use crate::pages::form_dialog::Ask;
use crate::pages::listed::read;
use crate::session::Session;

/// Half a lease: a beat older than this is being looked at by the reconciler.
const QUIET_MS: i64 = 15_000;

/// The freezes, oldest first.
#[component]
pub fn FreezesCard(
    /// Whose.
    tenant: String,
    /// Read every two seconds.
    freezes: Fetch<LiveFreezes>,
) -> impl IntoView {
    let t = language();
    let may = expect_context::<Session>().may_operate();
    let asking = RwSignal::new(None::<LiveFreeze>);
    let shown = move |data: LiveFreezes| {
        if data.items.is_empty() {
            return view! { <Empty icon="lock" title=t.no_freezes() hint=t.no_freezes_hint()>""</Empty> }.into_any();
        }
        let columns = vec![
            Column::name(t.request()),
            Column::number(t.set_aside()),
            Column::number(t.so_far()),
            Column::text(t.since()),
            Column::text(t.last_beat()),
            Column::aside(t.gateway_word()),
            Column::state(t.state()),
            Column::actions(t.actions()),
        ];
        let rows = data.items.into_iter().map(|freeze| row(t, freeze, may.then_some(asking))).collect();
        view! { <Table caption=t.freezes_now() columns=columns rows=rows class="c3"/> }.into_any()
    };
    let tenant = StoredValue::new(tenant);
    let dialog = move || {
        asking.get().map(|freeze| {
            let close = Callback::new(move |()| {
                asking.set(None);
                freezes.again();
            });
            view! { <RollBackDialog tenant=tenant.get_value() freeze=freeze on_close=close/> }
        })
    };
    let end = view! { <span class="live-mark">{t.live_books()}</span> }.into_any();
    view! { <Card id="freezes" title=t.freezes_now() end=end>{read(freezes, 2, shown)}</Card>{dialog} }
}

fn row(t: Language, freeze: LiveFreeze, asking: Option<RwSignal<Option<LiveFreeze>>>) -> Row {
    let id = freeze.request_id.to_string();
    let (tone, words) = match freeze.state {
        _ if freeze.beat_age_ms > QUIET_MS => (Tone::Warn, t.no_beat()),
        FreezeState::Active => (Tone::Live, t.running()),
        FreezeState::Settled => (Tone::Neutral, t.settled()),
    };
    let age = format!("{}.{}", freeze.beat_age_ms / 1000, freeze.beat_age_ms % 1000 / 100);
    let roll_back = asking.map(|asking| {
        let (label, freeze) = (t.of_row(t.roll_back(), &id), freeze.clone());
        let press = Callback::new(move |()| asking.set(Some(freeze.clone())));
        view! { <Button words=t.roll_back() label=label class="ghost sm" on_press=press/> }
    });
    Row::new(vec![
        named(format::short_id(&id), None, mono(freeze.model)),
        text(format::short(freeze.amount.as_str())),
        text(format::short(freeze.progress.as_str())),
        text(written::clock(freeze.created_at, t)),
        text(t.seconds_ago(&age)),
        mono(freeze.gateway),
        view! { <Badge tone=tone text=words/> }.into_any(),
        roll_back.into_any(),
    ])
}

#[component]
fn RollBackDialog(tenant: String, freeze: LiveFreeze, on_close: Callback<()>) -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let form = Form::new();
    let reason = typed("");
    let id = StoredValue::new((tenant, freeze.request_id.to_string()));
    let yes = Callback::new(move |()| {
        let why = Reason { reason: reason.get_untracked().trim().to_owned() };
        let key = form.key_for(&why);
        let (tenant, request) = id.get_value();
        form.send(async move { live::roll_back(&tenant, &request, &why, &key).await }, move |done| {
            let detail = t.gave_back(&format::short(done.given_back.as_str()));
            toasts.show(Toast::ok(t.outcome_word(&done.outcome).to_owned(), Some(detail)));
            on_close.run(());
        });
    });
    view! {
        <Ask title=t.roll_back_freeze() words=t.roll_back_words() action=t.roll_back() form=form on_yes=yes on_close=on_close>
            <p class="mono small">{format!("{} · {}", id.get_value().1, format::short(freeze.amount.as_str()))}</p>
            <TextField name="reason" label=t.reason() hint=t.reason_hint() value=reason failure=form.failure autofocus=true/>
        </Ask>
    }
}
