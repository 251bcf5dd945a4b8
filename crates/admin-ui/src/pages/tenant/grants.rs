//! Grants in the order in which they are spent.

use api_types::Page;
use api_types::grant::{Grant, GrantStatus, TenantQuota};
use api_types::tenant::Tenant;
use leptos::prelude::*;

use crate::components::badge::{Badge, Tone};
use crate::components::button::Button;
use crate::components::spent_bar::SpentBar;
use crate::components::states::{Empty, Failed, Loading};
use crate::components::table::{Column, Row, Table, named, text};
use crate::components::written;
use crate::fetch::Fetch;
use crate::format;
use crate::i18n::{Language, language};
use crate::session::Session;

/// The grants in force first, in burn order; then those to come; ended ones on request.
#[component]
pub fn GrantsCard(
    /// Whose.
    tenant: Tenant,
    /// The grants.
    grants: Fetch<Page<Grant>>,
    /// Names the burn order.
    quota: Fetch<TenantQuota>,
    /// A grant is to be added.
    on_add: Callback<()>,
    /// A grant is to be ended.
    on_end: Callback<Grant>,
) -> impl IntoView {
    let t = language();
    let all = RwSignal::new(false);
    let tenant = StoredValue::new(tenant);
    // Only the order is taken from the live numbers, so that the table stays as it is while they move.
    let order = Memo::new(move |_| {
        quota
            .data
            .read()
            .as_ref()
            .map(|quota| quota.grants.iter().map(|grant| grant.id).collect::<Vec<_>>())
            .unwrap_or_default()
    });
    let has_ended = move || grants.data.read().as_ref().is_some_and(|page| page.items.iter().any(is_over));
    let body = move || match (grants.data.get(), grants.failure.get()) {
        (Some(page), _) if !page.items.is_empty() => {
            let sorted = burn_order(page.items, &order.read(), all.get());
            view! { <GrantsTable tenant=tenant.get_value() grants=sorted on_end=on_end/> }.into_any()
        }
        (_, Some(failure)) => {
            view! { <Failed failure=failure on_again=Callback::new(move |()| grants.again())/> }.into_any()
        }
        (Some(_), None) => view! {
            <Empty icon="balance" title=t.no_grants() hint=t.no_grants_hint()>
                <button class="btn" type="button" on:click=move |_| on_add.run(())>{t.add_grant()}</button>
            </Empty>
        }
        .into_any(),
        (None, None) => view! { <Loading/> }.into_any(),
    };
    let toggle = move || {
        has_ended().then(|| {
            view! {
                <button class="btn ghost sm" type="button" aria-pressed=move || all.get().to_string() on:click=move |_| all.update(|all| *all = !*all)>
                    {move || if all.get() { t.hide_ended_grants() } else { t.ended_grants() }}
                </button>
            }
        })
    };
    view! {
        <section class="card" aria-labelledby="h-grants">
            <div class="card-head"><h2 id="h-grants">{t.grants_in_burn_order()}</h2><div class="end">{toggle}</div></div>
            {body}
        </section>
    }
}

fn is_over(grant: &Grant) -> bool {
    matches!(grant.status, GrantStatus::Ended | GrantStatus::Lapsed)
}

/// In force as the API orders them, then pending by beginning, then, where wanted, what is over.
fn burn_order(mut grants: Vec<Grant>, order: &[domain::GrantId], all: bool) -> Vec<Grant> {
    grants.retain(|grant| all || !is_over(grant));
    grants.sort_by_key(|grant| {
        let place = order.iter().position(|id| *id == grant.id).unwrap_or(order.len());
        (is_over(grant), grant.status == GrantStatus::Pending, place, grant.priority, grant.starts_at)
    });
    grants
}

#[component]
fn GrantsTable(tenant: Tenant, grants: Vec<Grant>, on_end: Callback<Grant>) -> impl IntoView {
    let t = language();
    let may_end = expect_context::<Session>().may_operate();
    let burning = grants
        .iter()
        .find(|grant| {
            grant.status == GrantStatus::InForce
                && grant.remaining.amount(tenant.unit).is_ok_and(|left| left.is_positive())
        })
        .map(|grant| grant.id);
    let row = |grant: Grant| {
        let burns = burning == Some(grant.id);
        grant_row(t, grant, burns, &tenant, may_end.then_some(on_end))
    };
    let columns = vec![
        Column::name(t.grant()),
        Column::bar(t.spent()),
        Column::number(t.amount()),
        Column::number(t.used()),
        Column::number(t.remaining()),
        Column::state(t.state()),
        Column::actions(t.actions()),
    ];
    view! { <Table caption=t.grants_in_burn_order() columns=columns rows=grants.into_iter().map(row).collect() class="c3"/> }
}

/// What a grant is called: its note, or its kind.
pub fn name_of(t: Language, grant: &Grant) -> String {
    if grant.note.is_empty() { t.grant_kind(grant.kind).to_owned() } else { grant.note.clone() }
}

fn grant_row(t: Language, grant: Grant, burns: bool, tenant: &Tenant, on_end: Option<Callback<Grant>>) -> Row {
    let unit = tenant.unit;
    let parts = grant.used.amount(unit).ok().zip(grant.amount.amount(unit).ok());
    let bar = parts.map(|(used, amount)| view! { <SpentBar used=used amount=amount/> });
    let spent = parts.is_some_and(|(used, amount)| used >= amount);
    let ends = grant.ends_at.map(|at| written::day(at, t, Some(&tenant.time_zone)));
    let line = t.grant_line(grant.kind, ends.as_deref());
    let off = spent || is_over(&grant);
    let name = name_of(t, &grant);
    let end = on_end.filter(|_| !is_over(&grant)).map(|on_end| {
        let (label, grant) = (t.of_row(t.end_grant(), &name), grant.clone());
        let press = Callback::new(move |()| on_end.run(grant.clone()));
        view! { <Button words=t.end_grant() label=label class="ghost sm" on_press=press/> }
    });
    Row {
        class: if off { "off" } else { "" },
        cells: vec![
            named(name, None, text(line)),
            bar.into_any(),
            text(format::short(grant.amount.as_str())),
            text(format::short(grant.used.as_str())),
            text(format::short(grant.remaining.as_str())),
            state(t, &grant, burns, spent),
            end.into_any(),
        ],
    }
}

fn state(t: Language, grant: &Grant, burns: bool, spent: bool) -> AnyView {
    let (tone, words) = match grant.status {
        GrantStatus::InForce if burns => (Tone::Live, t.burning_now()),
        GrantStatus::InForce if spent => (Tone::Neutral, t.spent()),
        status => (Tone::Neutral, t.grant_status(status)),
    };
    view! { <Badge tone=tone text=words/> }.into_any()
}
