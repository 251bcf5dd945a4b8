//! Grants in the order in which they are spent.

use api_types::Page;
use api_types::grant::{Grant, GrantStatus, TenantQuota};
use api_types::tenant::Tenant;
use leptos::prelude::*;

use crate::components::badge::{Badge, Tone};
use crate::components::spent_bar::SpentBar;
use crate::components::states::{Empty, Failed, Loading};
use crate::components::written;
use crate::fetch::Fetch;
use crate::format;
use crate::i18n::{Language, language};

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
            view! { <GrantsTable tenant=tenant.get_value() grants=sorted/> }.into_any()
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
fn GrantsTable(tenant: Tenant, grants: Vec<Grant>) -> impl IntoView {
    let t = language();
    let burning = grants
        .iter()
        .find(|grant| {
            grant.status == GrantStatus::InForce
                && grant.remaining.amount(tenant.unit).is_ok_and(|left| left.is_positive())
        })
        .map(|grant| grant.id);
    let row = |(index, grant): (usize, Grant)| {
        let burns = burning == Some(grant.id);
        view! { <GrantRow number={index + 1} grant=grant burns=burns unit=tenant.unit zone=tenant.time_zone.clone()/> }
    };
    view! {
        <div class="table-wrap" tabindex="0" role="group" aria-labelledby="h-grants">
            <table role="table" class="table cards c3">
                <caption class="vh">{t.grants_in_burn_order()}</caption>
                <thead role="rowgroup">
                    <tr role="row">
                        <th role="columnheader" scope="col">"#"</th>
                        <th role="columnheader" scope="col">{t.grant()}</th>
                        <th role="columnheader" scope="col">{t.spent()}</th>
                        <th role="columnheader" scope="col" class="r">{t.amount()}</th>
                        <th role="columnheader" scope="col" class="r">{t.used()}</th>
                        <th role="columnheader" scope="col" class="r">{t.remaining()}</th>
                        <th role="columnheader" scope="col">{t.state()}</th>
                    </tr>
                </thead>
                <tbody role="rowgroup">{grants.into_iter().enumerate().map(row).collect_view()}</tbody>
            </table>
        </div>
    }
}

#[component]
fn GrantRow(number: usize, grant: Grant, burns: bool, unit: domain::Unit, zone: String) -> impl IntoView {
    let t = language();
    let parts = grant.used.amount(unit).ok().zip(grant.amount.amount(unit).ok());
    let bar = parts.map(|(used, amount)| view! { <SpentBar used=used amount=amount/> });
    let spent = parts.is_some_and(|(used, amount)| used >= amount);
    let ends = grant.ends_at.map(|at| written::day(at, t, Some(&zone)));
    let line = t.grant_line(grant.kind, ends.as_deref());
    let name = if grant.note.is_empty() { t.grant_kind(grant.kind).to_owned() } else { grant.note.clone() };
    let off = spent || is_over(&grant);
    view! {
        <tr role="row" class={if off { "off" } else { "" }}>
            <td role="cell" class="shrink corner no-card">{number}</td>
            <th role="rowheader" scope="row" class="full"><span class="name">{name}</span><span class="under">{line}</span></th>
            <td role="cell" class="bar-cell full">{bar}</td>
            <td role="cell" class="r" data-label=t.amount()>{format::short(grant.amount.as_str())}</td>
            <td role="cell" class="r" data-label=t.used()>{format::short(grant.used.as_str())}</td>
            <td role="cell" class="r" data-label=t.remaining()>{format::short(grant.remaining.as_str())}</td>
            <td role="cell" class="corner">{state(t, &grant, burns, spent)}</td>
        </tr>
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
