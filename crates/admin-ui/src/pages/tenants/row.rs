//! A tenant in the list.

use api_types::tenant::{Tenant, TenantStatus};
use leptos::prelude::*;

use crate::components::gate::{Gate, Size};
use crate::components::written;
use crate::format;
use crate::i18n::language;
use crate::pages::tenant::standing::{TenantBadge, figures_of, row_class};

/// A row: name, state, bar, the four numbers.
#[component]
pub fn TenantRow(
    /// The tenant.
    tenant: Tenant,
) -> impl IntoView {
    let t = language();
    let figures = figures_of(&tenant);
    let class = row_class(&tenant, figures.as_ref());
    let bar = figures.map(|figures| view! { <Gate figures=figures about=tenant.name.clone() size=Size::Mini/> });
    let limit = |text: Option<&api_types::Decimal>| match text {
        Some(text) => format::short(text.as_str()).into_any(),
        None => view! { <span class="faint">{t.no_limit()}</span> }.into_any(),
    };
    let (total, remaining) = (limit(tenant.quota.total.as_ref()), limit(tenant.quota.remaining.as_ref()));
    let last_used = tenant.last_used_at.map_or_else(|| t.never().to_owned(), |at| written::moment(at, t, None));
    let closed = tenant.status != TenantStatus::Active;
    let under = tenant.external_id.clone().unwrap_or_default();
    view! {
        <tr role="row" class={if closed { "off" } else { class }}>
            <th role="rowheader" scope="row" class="full">
                <a class="name" href=format!("/tenants/{}", tenant.id)>{tenant.name.clone()}</a>
                <span class="under mono">{under}</span>
            </th>
            <td role="cell" class="corner"><TenantBadge tenant=tenant.clone()/></td>
            <td role="cell" class="bar-cell full">{bar}</td>
            <td role="cell" class="r" data-label=t.total()>{total}</td>
            <td role="cell" class="r" data-label=t.used()>{format::short(tenant.quota.used.as_str())}</td>
            <td role="cell" class="r" data-label=t.in_flight()>{format::short(tenant.quota.frozen.as_str())}</td>
            <td role="cell" class="r" data-label=t.remaining()>{remaining}</td>
            <td role="cell" class="r p3" data-label=t.last_used()>{last_used}</td>
        </tr>
    }
}
