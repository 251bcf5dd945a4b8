//! Whether everything serves.

use api_types::platform::{Server, Service, System};
use api_types::upstream::Upstream;
use leptos::prelude::*;

use super::REFRESH;
use crate::api::{platform, upstreams};
use crate::components::badge::{Badge, Tone};
use crate::components::card::Card;
use crate::components::live::live;
use crate::fetch::{Fetch, fetch};
use crate::i18n::{Language, language};
use crate::pages::listed::read;

/// Gateways, the other services, Redis, Postgres, the outbox, and upstreams.
#[component]
pub fn HealthCard() -> impl IntoView {
    let t = language();
    let system = fetch(|| (), |()| platform::system());
    system.poll(REFRESH);
    let upstreams: Fetch<api_types::Page<Upstream>> = fetch(|| (), |()| upstreams::list());
    upstreams.poll(REFRESH);
    let places = live(move || {
        let items = upstreams.data.get().map(|page| page.items).unwrap_or_default();
        items.into_iter().map(|upstream| upstream_state(t, &upstream)).collect::<Vec<_>>()
    });
    let end = view! { <a href="/system">{t.system()}</a> }.into_any();
    let shown =
        read(system, 3, move |system| view! { <dl class="kpis flat three">{states(t, &system)}</dl> }.into_any());
    view! {
        <Card id="health" title=t.health() end=end>
            {shown}
            <dl class="kpis flat three">{places}</dl>
        </Card>
    }
}

/// One line of health.
pub fn state(name: String, tone: Tone, words: String, about: String) -> AnyView {
    view! {
        <div class="kpi">
            <dt>{name}</dt>
            <dd class="state-line"><Badge tone=tone text=words plain=true/></dd>
            <dd class="sub num">{about}</dd>
        </div>
    }
    .into_any()
}

/// The lines of what Tollgate runs on.
pub fn states(t: Language, system: &System) -> Vec<AnyView> {
    let of = |name: &str| system.services.iter().filter(|service| service.name == name).collect::<Vec<&Service>>();
    let services = [("gateway", t.gateways()), ("reconciler", t.reconcilers()), ("admin_api", t.admin_apis())];
    let mut lines: Vec<AnyView> = services
        .into_iter()
        .map(|(name, words)| {
            let found = of(name);
            let up = found.iter().filter(|service| service.state == "up").count();
            let tone = if up == 0 {
                Tone::Bad
            } else if up < found.len() {
                Tone::Warn
            } else {
                Tone::Ok
            };
            let versions = found.first().map(|service| t.version_of(&service.version)).unwrap_or_default();
            state(words.to_owned(), tone, t.up_of(up, found.len()), versions)
        })
        .collect();
    lines.push(server(t, "Redis", &system.redis));
    lines.push(server(t, "PostgreSQL", &system.postgres));
    let late = system.outbox_lag_s.max(system.record_lag_s);
    let tone = if late > 60 { Tone::Warn } else { Tone::Ok };
    let words = if late > 60 { t.running_late() } else { t.in_time() };
    lines.push(state(
        t.records_and_outbox().to_owned(),
        tone,
        words.to_owned(),
        t.lags(system.record_lag_s, system.outbox_lag_s),
    ));
    lines
}

fn server(t: Language, name: &str, server: &Server) -> AnyView {
    let up = server.state == "up";
    let about = match &server.version {
        Some(version) => format!("{} · {} ms", t.version_of(version), server.latency_ms),
        None => String::new(),
    };
    let (tone, words) = if up { (Tone::Ok, t.up()) } else { (Tone::Bad, t.away()) };
    state(name.to_owned(), tone, words.to_owned(), about)
}

fn upstream_state(t: Language, upstream: &Upstream) -> AnyView {
    let name = t.upstream_called(&upstream.name);
    match upstream.parked_until {
        Some(until) => {
            state(name, Tone::Warn, t.parked().to_owned(), t.until(&crate::components::written::clock(until, t)))
        }
        None => state(name, Tone::Ok, t.healthy().to_owned(), upstream.kind.to_string()),
    }
}
