//! Who serves, and how the books were compared.

use api_types::alert::{Reconcile, Reconciliation, ReconciliationState};
use api_types::platform::{Service, System};
use leptos::prelude::*;

use crate::api::platform;
use crate::components::badge::{Badge, Tone};
use crate::components::button::Button;
use crate::components::card::Card;
use crate::components::live::live;
use crate::components::notice::FormFailure;
use crate::components::page_head::PageHead;
use crate::components::table::{Column, Row, Table, mono, named, text};
use crate::components::toasts::{Toast, Toasts};
use crate::components::written;
use crate::fetch::fetch;
use crate::format;
use crate::i18n::{Language, language};
use crate::pages::form::Form;
use crate::pages::listed::{listed, read};
use crate::pages::overview::REFRESH;
use crate::pages::overview::health::states;
use crate::session::Session;

/// The page.
#[component]
pub fn SystemPage() -> impl IntoView {
    let t = language();
    let system = fetch(|| (), |()| platform::system());
    system.poll(REFRESH);
    let health = read(system, 3, move |system: System| {
        view! { <dl class="kpis flat three">{states(t, &system)}</dl> }.into_any()
    });
    let services = read(system, 3, move |system: System| {
        let columns = vec![
            Column::name(t.service()),
            Column::state(t.state()),
            Column::text(t.version_head()),
            Column::text(t.last_seen()),
        ];
        let rows = system.services.into_iter().map(|service| row(t, service)).collect();
        view! { <Table caption=t.services() columns=columns rows=rows/> }.into_any()
    });
    view! {
        <PageHead title=t.system() hint=t.system_hint()/>
        <div class="stack">
            <Card id="health" title=t.health()>{health}</Card>
            <Card id="services" title=t.services()>{services}</Card>
            <Comparisons/>
        </div>
    }
}

fn row(t: Language, service: Service) -> Row {
    let (tone, words) = if service.state == "up" { (Tone::Ok, t.up()) } else { (Tone::Warn, t.silent()) };
    Row::new(vec![
        named(t.service_called(&service.name).to_owned(), None, mono(service.id)),
        view! { <Badge tone=tone text=words/> }.into_any(),
        mono(service.version),
        text(written::moment(service.seen_at, t, None)),
    ])
}

/// The comparisons of Redis and PostgreSQL, and a button for one more.
#[component]
fn Comparisons() -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let session = expect_context::<Session>();
    let page = fetch(|| (), |()| platform::reconciliations());
    page.poll(REFRESH);
    let form = Form::new();
    let compare = Callback::new(move |()| {
        let body = Reconcile { tenant_id: None, dry_run: false };
        form.send(async move { platform::reconcile(&body).await }, move |_| {
            toasts.show(Toast::ok(t.comparison_begun().to_owned(), None));
            page.again();
        });
    });
    let button = live(move || {
        session.may_operate().then(|| view! { <Button words=t.compare_now() class="sm" on_press=compare/> })
    });
    let table = move |items: Vec<Reconciliation>| {
        let columns = vec![
            Column::name(t.started()),
            Column::state(t.state()),
            Column::number(t.accounts()),
            Column::number(t.differences()),
            Column::number(t.repaired()),
            Column::number(t.alerts()),
        ];
        let rows = items.into_iter().map(|one| compared(t, one)).collect();
        view! { <Table caption=t.comparisons() columns=columns rows=rows class="c3"/> }.into_any()
    };
    let empty = move || view! { <p class="card-body small muted">{t.no_comparisons()}</p> }.into_any();
    view! {
        <Card id="comparisons" title=t.comparisons() end=button>
            <FormFailure failure=form.failure/>
            {listed(page, 3, table, empty)}
        </Card>
    }
}

fn compared(t: Language, one: Reconciliation) -> Row {
    let (tone, words) = match one.state {
        ReconciliationState::Running => (Tone::Live, t.comparison_running()),
        ReconciliationState::Done if one.differences > 0 => (Tone::Warn, t.comparison_done()),
        ReconciliationState::Done => (Tone::Ok, t.comparison_done()),
        ReconciliationState::Failed => (Tone::Bad, t.comparison_failed()),
    };
    Row::new(vec![
        named(written::moment(one.started_at, t, None), None, mono(format::short_id(&one.by))),
        view! { <Badge tone=tone text=words/> }.into_any(),
        text(format::integer(one.accounts)),
        text(format::integer(one.differences)),
        text(format::integer(one.repaired)),
        text(format::integer(one.alerts)),
    ])
}
