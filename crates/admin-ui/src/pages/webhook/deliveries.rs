//! An endpoint's deliveries with their attempts and what was answered.

use std::time::Duration;

use api_types::webhook::{Delivery, DeliveryAttempt, DeliveryState, Redeliver};
use leptos::prelude::*;

use crate::api::webhooks;
use crate::components::badge::{Badge, Tone};
use crate::components::button::Button;
use crate::components::card::Card;
use crate::components::states::Empty;
use crate::components::table::{Column, Row, Table, mono, named, text};
use crate::components::toasts::{Toast, Toasts};
use crate::components::written;
use crate::fetch::fetch;
use crate::format;
use crate::i18n::{Language, language};
use crate::pages::address::{Address, AddressPager};
use crate::pages::form::Form;
use crate::pages::listed::listed;

/// A delivery that was just sent shows its reply without a reload.
const REFRESH: Duration = Duration::from_secs(3);

/// The deliveries, newest first.
#[component]
pub fn DeliveriesCard(
    /// The endpoint.
    id: String,
    /// Counts what was sent from this page: a new one is looked for at once.
    sent: RwSignal<u32>,
) -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let address = Address::of_page();
    let id = StoredValue::new(id);
    let asked = move || {
        sent.track();
        (address.get("state"), address.rows().to_string(), address.get("cursor"), sent.get())
    };
    let page = fetch(asked, move |(state, rows, cursor, _)| {
        let id = id.get_value();
        async move { webhooks::deliveries(&id, &state, &rows, &cursor).await }
    });
    page.poll(REFRESH);
    let form = Form::new();
    let again = Callback::new(move |delivery: Delivery| {
        let id = id.get_value();
        let what = Redeliver { event_ids: Some(vec![delivery.event_id]), from: None, to: None };
        form.send(async move { webhooks::redeliver(&id, &what).await }, move |done| {
            toasts.show(Toast::ok(t.queued_again(done.queued), None));
            page.again();
        });
    });
    Effect::new(move |_| {
        if let Some(failure) = form.failure.get() {
            toasts.show(Toast::bad(t.failure(&failure), None));
        }
    });
    let table = move |items: Vec<Delivery>| {
        let columns = vec![
            Column::name(t.event()),
            Column::text(t.attempts()),
            Column::text(t.next_try()),
            Column::state(t.state()),
            Column::actions(t.actions()),
        ];
        let rows = items.into_iter().map(|delivery| row(t, delivery, again)).collect();
        view! { <Table caption=t.deliveries() columns=columns rows=rows/> }.into_any()
    };
    let empty = move || {
        view! { <Empty icon="webhooks" title=t.no_deliveries() hint=t.no_deliveries_hint()>""</Empty> }.into_any()
    };
    let count = Signal::derive(move || page.data.read().as_ref().map_or(0, |page| page.items.len()));
    let next = Signal::derive(move || page.data.read().as_ref().and_then(|page| page.next_cursor.clone()));
    let states = [
        ("", t.every_state_of()),
        ("pending", t.waiting_state()),
        ("delivered", t.delivered()),
        ("failed", t.failed_state()),
    ];
    let option = move |(key, words): (&'static str, &'static str)| {
        view! { <option value=key prop:selected=move || address.get("state") == key>{words}</option> }
    };
    let filter = view! {
        <select class="input filter-select" aria-label=t.state_filter() on:change=move |event| address.set("state", &event_target_value(&event))>
            {states.map(option).collect_view()}
        </select>
    };
    view! {
        <Card id="deliveries" title=t.deliveries() end=filter.into_any()>
            {listed(page, 4, table, empty)}
            <AddressPager address=address count=count next=next/>
        </Card>
    }
}

fn row(t: Language, delivery: Delivery, again: Callback<Delivery>) -> Row {
    let (tone, words) = match delivery.state {
        DeliveryState::Delivered => (Tone::Ok, t.delivered()),
        DeliveryState::Pending => (Tone::Live, t.waiting_state()),
        DeliveryState::Failed => (Tone::Bad, t.failed_state()),
    };
    let id = delivery.event_id.to_string();
    let label = t.of_row(t.redeliver(), &id);
    let next = delivery.next_at.map(|at| written::clock(at, t)).unwrap_or_default();
    let attempts = attempts(t, delivery.attempts.clone());
    let name = delivery.r#type.to_string();
    let press = Callback::new(move |()| again.run(delivery.clone()));
    Row {
        class: if tone == Tone::Bad { "bad" } else { "" },
        cells: vec![
            named(name, None, mono(format::short_id(&id))),
            attempts,
            text(next),
            view! { <Badge tone=tone text=words/> }.into_any(),
            view! { <Button words=t.redeliver() label=label class="ghost sm" on_press=press/> }.into_any(),
        ],
    }
}

/// The last one in a line; all of them with their replies on request.
fn attempts(t: Language, attempts: Vec<DeliveryAttempt>) -> AnyView {
    let Some(last) = attempts.last() else { return text("–") };
    let line = format!("{} · {}", attempts.len(), told(t, last));
    let one = |attempt: DeliveryAttempt| {
        let at = written::moment(attempt.at, t, None);
        let words = format!("{at} · {} · {} ms", told(t, &attempt), attempt.ms);
        let body = attempt.body.filter(|body| !body.is_empty());
        view! {
            <li>{words}{body.map(|body| view! { <pre class="reply" tabindex="0" role="group" aria-label=t.reply_body()>{body}</pre> })}</li>
        }
        .into_any()
    };
    let all = attempts.into_iter().map(one).collect::<Vec<_>>();
    view! { <details><summary>{line}</summary><ol class="attempts" aria-label=t.attempts_of()>{all}</ol></details> }
        .into_any()
}

fn told(t: Language, attempt: &DeliveryAttempt) -> String {
    let status = attempt.status.map_or_else(|| t.no_reply().to_owned(), |status| status.to_string());
    match &attempt.error {
        Some(why) => format!("{status} · {why}"),
        None => status,
    }
}
