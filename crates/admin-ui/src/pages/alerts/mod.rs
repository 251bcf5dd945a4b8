//! What the books' keeper found: what holds, what to do about it, and who has taken note.

mod acknowledge;

use api_types::alert::{Alert, Grade};
use domain::Unit;
use leptos::prelude::*;

use crate::api::platform::{self, Asked};
use crate::components::badge::{Badge, Tone};
use crate::components::button::{Button, opener};
use crate::components::live::live;
use crate::components::page_head::PageHead;
use crate::components::segmented::Segmented;
use crate::components::states::Empty;
use crate::components::written;
use crate::fetch::fetch;
use crate::format;
use crate::i18n::{Language, language};
use crate::pages::address::{Address, AddressPager};
use crate::pages::listed::listed;
use crate::session::Session;

use acknowledge::AcknowledgeDialog;

/// How bad it is, with its shape.
pub fn grade_badge(t: Language, grade: Grade) -> AnyView {
    let (tone, words) = match grade {
        Grade::Urgent => (Tone::Bad, t.urgent()),
        Grade::Warning => (Tone::Warn, t.warning()),
        Grade::Hint => (Tone::Neutral, t.hint_grade()),
    };
    view! { <Badge tone=tone text=words/> }.into_any()
}

/// What to do: in Chinese by what it is, in English as the API says it.
#[must_use]
pub fn words(t: Language, alert: &Alert) -> String {
    t.alert_remedy(&alert.kind).map_or_else(|| alert.remedy.clone(), str::to_owned)
}

/// The page.
#[component]
pub fn AlertsPage() -> impl IntoView {
    let t = language();
    let address = Address::of_page();
    let asked = Memo::new(move |_| -> Asked {
        let state = address.get("state");
        // Those that hold, unless said otherwise.
        let state = if state.is_empty() { "open".to_owned() } else { state.replace("all", "") };
        vec![
            ("state", state),
            ("grade", address.get("grade")),
            ("tenant_id", address.get("tenant_id")),
            ("limit", address.rows().to_string()),
            ("cursor", address.get("cursor")),
        ]
    });
    let page = fetch(move || asked.get(), |asked| async move { platform::alerts(&asked).await });
    page.poll(crate::pages::overview::REFRESH);
    let open = RwSignal::new(None::<Box<Alert>>);
    let may = expect_context::<Session>().may_operate();
    let list = move |items: Vec<Alert>| {
        let one = |alert: Alert| entry(t, alert, open, may);
        view! { <ul class="items" data-list="alerts">{items.into_iter().map(one).collect::<Vec<_>>()}</ul> }.into_any()
    };
    let empty =
        move || view! { <Empty icon="alerts" title=t.no_alerts() hint=t.no_alerts_hint()>""</Empty> }.into_any();
    let count = Signal::derive(move || page.data.read().as_ref().map_or(0, |page| page.items.len()));
    let next = Signal::derive(move || page.data.read().as_ref().and_then(|page| page.next_cursor.clone()));
    let close = Callback::new(move |()| {
        open.set(None);
        page.again();
    });
    let dialog = live(move || open.get().map(|alert| view! { <AcknowledgeDialog alert=*alert on_close=close/> }));
    view! {
        <PageHead title=t.alerts() hint=t.alerts_hint()/>
        <section class="card" aria-label=t.alerts()>
            <Filters address=address/>
            {listed(page, 4, list, empty)}
            <AddressPager address=address count=count next=next/>
        </section>
        {dialog}
    }
}

#[component]
fn Filters(address: Address) -> impl IntoView {
    let t = language();
    let of = |name: &'static str, words: [&'static str; 4]| {
        let now = untrack(|| address.get(name));
        words.into_iter().find(|word| *word == now).unwrap_or(words[0])
    };
    let state = RwSignal::new(of("state", ["open", "past", "all", "open"]));
    let grade = RwSignal::new(of("grade", ["", "urgent", "warning", "hint"]));
    Effect::new(move |before: Option<(&'static str, &'static str)>| {
        let now = (state.get(), grade.get());
        if before.is_some_and(|before| before != now) {
            let word = if now.0 == "open" { "" } else { now.0 };
            address.change(vec![("state", word.to_owned()), ("grade", now.1.to_owned())], false);
        }
        now
    });
    let states = vec![("open", t.alert_open()), ("past", t.alert_past()), ("all", t.every_state())];
    let grades =
        vec![("", t.every_grade()), ("urgent", t.urgent()), ("warning", t.warning()), ("hint", t.hint_grade())];
    view! {
        <div class="toolbar">
            <Segmented name="state" label=t.state_filter() label_hidden=true choices=states value=state small=true/>
            <Segmented name="grade" label=t.grade() label_hidden=true choices=grades value=grade small=true/>
        </div>
    }
}

fn entry(t: Language, alert: Alert, open: RwSignal<Option<Box<Alert>>>, may: bool) -> AnyView {
    let title = t.alert_kind(&alert.kind).to_owned();
    let closed = alert.closed_at.map(|at| t.closed_on(&written::moment(at, t, None)));
    let noted = alert.acknowledged_at.map(|at| {
        let by = alert.acknowledged_by.clone().unwrap_or_default();
        t.noted_by(&format::short_id(&by), &written::moment(at, t, None))
    });
    let note = alert.note.clone().filter(|note| !note.is_empty());
    let figures = figures(t, &alert);
    let tenant = alert.tenant_id.to_string();
    let action = (may && alert.acknowledged_at.is_none()).then(|| {
        let label = t.of_row(t.acknowledge(), &title);
        let press = opener(open, Box::new(alert.clone()));
        view! { <Button words=t.acknowledge() label=label class="sm" on_press=press/> }
    });
    view! {
        <li>
            <div class="spread">
                <span class="row">{grade_badge(t, alert.grade)}<span class="strong">{title}</span></span>
                <span class="tiny faint">{written::moment(alert.opened_at, t, None)}</span>
            </div>
            <span>{words(t, &alert)}</span>
            <span class="small muted">
                <a class="mono" href=format!("/tenants/{tenant}") title=tenant.clone()>{format::short_id(&tenant)}</a>
                " · "<span class="mono wrap">{alert.scope.clone()}</span>
            </span>
            <span class="small muted num">{figures}</span>
            {closed.map(|words| view! { <span class="small muted">{words}</span> })}
            {noted.map(|words| view! { <span class="small muted">{words}{note.map(|note| format!(": {note}"))}</span> })}
            {action.map(|action| view! { <div>{action}</div> })}
        </li>
    }
    .into_any()
}

/// The account when it was seen, and the tenant's trend.
fn figures(t: Language, alert: &Alert) -> String {
    let numbers = &alert.numbers;
    let mut parts = Vec::new();
    if let Some(total) = &numbers.total {
        parts.push(format!("{} {}", t.total(), format::short(total.as_str())));
    }
    parts.push(format!("{} {}", t.used(), format::short(numbers.used.as_str())));
    parts.push(format!("{} {}", t.in_flight(), format::short(numbers.frozen.as_str())));
    if let Some(trend) = &alert.trend {
        parts.push(format!("{} {}", t.last_hour(), format::short(trend.last_hour.as_str())));
        parts.push(format!("{} {}", t.day_before(), format::short(trend.day_before.as_str())));
    }
    if numbers.unit == Unit::Token {
        parts.push(t.unit_token().to_owned());
    }
    parts.join(" · ")
}
