//! A recorded request: what was set aside, used and charged, from what, and when.

mod figures;
mod steps;
pub mod timing;

use api_types::request::Request;
use domain::Usage;
use domain::usage::Kind;
use leptos::prelude::*;

use crate::api::requests;
use crate::components::badge::{Badge, Tone};
use crate::components::card::Card;
use crate::components::copy::CopyButton;
use crate::components::crumbs::Crumb;
use crate::components::figure::Exact;
use crate::components::kv::Kv;
use crate::components::page_head::PageHead;
use crate::components::table::{Column, Row, Table, mono, named, text};
use crate::components::written;
use crate::fetch::fetch;
use crate::format;
use crate::i18n::{Language, language};
use crate::json;
use crate::pages::listed::page;
use crate::place;

use figures::RequestFigures;
use steps::StepsCard;

/// The page of one request.
#[component]
pub fn RequestPage() -> impl IntoView {
    let id = place::id_after("requests");
    let request = fetch(move || id.get(), |id| async move { requests::one(&id).await });
    page(
        request,
        |before, now| before.request_id == now.request_id,
        |request| view! { <Loaded request=request/> }.into_any(),
    )
}

#[component]
fn Loaded(request: Request) -> impl IntoView {
    let t = language();
    let id = request.request_id.to_string();
    let way = vec![Crumb::to(t.requests(), "/requests"), Crumb::here(format::short_id(&id))];
    let copy = view! { <CopyButton text=id.clone() label=t.copy_id(&id) caption=t.copy().to_owned() class=""/> };
    let mut facts = Vec::new();
    if let Some(at) = request.started_at {
        facts.push((t.started(), text(written::moment(at, t, None))));
    }
    if let Some(took) = timing::of(&request).took_ms {
        facts.push((t.took(), text(format::seconds(took))));
    }
    view! {
        <PageHead way=way title=id is_id=true badge=outcome_badge(t, &request) actions=copy.into_any() facts=facts/>
        <RequestFigures request=request.clone()/>
        <div class="cols main-side">
            <div class="stack"><StepsCard request=request.clone()/></div>
            <div class="stack">
                <UsageCard request=request.clone()/>
                <PaidCard request=request.clone()/>
                <WhoCard request=request/>
            </div>
        </div>
    }
}

/// How a request ended, in a word; what is unusual about it takes the place of a plain charge.
#[must_use]
pub fn outcome_badge(t: Language, request: &Request) -> AnyView {
    let words = t.outcome_word(&request.outcome).to_owned();
    let (tone, words) = match request.outcome.as_str() {
        "final" if request.overrun => (Tone::Warn, t.overrun().to_owned()),
        "final" => (Tone::Ok, words),
        "expired" => (Tone::Warn, words),
        _ => (Tone::Neutral, words),
    };
    view! { <Badge tone=tone text=words/> }.into_any()
}

/// The usage by kind, where this version understands how it was written down.
#[must_use]
pub fn usage_of(request: &Request) -> Option<Usage> {
    json::reread(&request.usage)
}

#[component]
fn UsageCard(request: Request) -> impl IntoView {
    let t = language();
    let usage = usage_of(&request).unwrap_or_default();
    let kinds = Kind::ALL.into_iter().filter(|kind| usage.get(*kind) > 0 && *kind != Kind::Request);
    let rows: Vec<Row> = kinds
        .map(|kind| Row::new(vec![named(t.usage_kind(kind), None, text("")), text(format::count(usage.get(kind)))]))
        .collect();
    if rows.is_empty() {
        return view! { <Card id="usage" title=t.usage()><p class="card-body small muted">{t.no_usage()}</p></Card> }
            .into_any();
    }
    let columns = vec![Column::name(t.kind()), Column::number(t.count())];
    let (tone, counted) =
        if request.estimated { (Tone::Warn, t.counted_here()) } else { (Tone::Ok, t.counted_upstream()) };
    view! {
        <Card id="usage" title=t.usage_by_kind()>
            <Table caption=t.usage_by_kind() columns=columns rows=rows/>
            <div class="card-foot"><Badge tone=tone text=counted plain=true/></div>
        </Card>
    }
    .into_any()
}

#[component]
fn PaidCard(request: Request) -> impl IntoView {
    let t = language();
    if request.allocations.is_empty() {
        return view! { <Card id="paid" title=t.paid_from()><p class="card-body small muted">{t.nothing_paid()}</p></Card> }
            .into_any();
    }
    let tenant = format!("/tenants/{}", request.tenant_id);
    let one = |part: api_types::request::Allocation| {
        let (id, href) = (part.grant_id.to_string(), tenant.clone());
        view! {
            <li><div class="spread">
                <a class="quiet mono" href=href>{format::short_id(&id)}</a><span class="num"><Exact text=part.amount.to_string()/></span>
            </div></li>
        }
        .into_any()
    };
    let parts = request.allocations.into_iter().map(one).collect::<Vec<_>>();
    view! { <Card id="paid" title=t.paid_from()><ul class="items" data-paid="grants">{parts}</ul></Card> }.into_any()
}

#[component]
fn WhoCard(request: Request) -> impl IntoView {
    let t = language();
    let link = |href: String, id: String| {
        view! { <a class="mono" href=href title=id.clone()>{format::short_id(&id)}</a> }.into_any()
    };
    let (tenant, project, key) =
        (request.tenant_id.to_string(), request.project_id.to_string(), request.key_id.to_string());
    let at_tenant = format!("/tenants/{tenant}");
    let at_project = format!("{at_tenant}/projects/{project}");
    let or_none = |value: Option<String>| value.map_or_else(|| text(t.none()), mono);
    let rows = vec![
        (t.tenant(), link(at_tenant, tenant)),
        (t.project(), link(at_project.clone(), project)),
        (t.key(), link(format!("{at_project}/keys/{key}"), key)),
        (t.model_asked(), mono(request.model)),
        (t.served(), or_none(request.served_model)),
        (t.callers_id(), or_none(request.client_request_id)),
        (t.upstream_status(), or_none(request.upstream_status.map(|status| status.to_string()))),
        (t.late_correction(), text(if request.late { t.yes() } else { t.none() })),
    ];
    view! { <Card id="who" title=t.who_and_what()><div class="card-body"><Kv rows=rows/></div></Card> }
}
