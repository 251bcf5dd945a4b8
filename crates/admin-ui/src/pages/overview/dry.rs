//! The tenants that have the least left.

use api_types::platform::Driest;
use domain::Amount;
use leptos::prelude::*;

use super::Known;
use crate::components::card::Card;
use crate::components::gate::{Gate, Size};
use crate::components::legend::QuotaLegend;
use crate::components::live::live;
use crate::components::table::{Column, Row, Table, named, text};
use crate::figures::Figures;
use crate::format;
use crate::i18n::language;

/// Nearest to dry.
#[component]
pub fn DriestCard(
    /// What the page knows.
    overview: Known,
) -> impl IntoView {
    let t = language();
    let inside = live(move || {
        let tenants = overview.get().map(|data| data.driest).unwrap_or_default();
        if tenants.is_empty() {
            return view! { <p class="card-body small muted">{t.nobody_near()}</p> }.into_any();
        }
        let columns = vec![
            Column::name(t.tenant()),
            Column::bar(t.quota()),
            Column::number(t.total()),
            Column::number(t.used()),
            Column::number(t.remaining()),
            Column::number(t.left_percent()),
        ];
        let rows = tenants.into_iter().map(row).collect();
        view! {
            <Table caption=t.nearest_dry() columns=columns rows=rows class="c3"/>
            <div class="card-foot"><QuotaLegend/></div>
        }
        .into_any()
    });
    let end = view! { <a href="/tenants">{t.all_tenants()}</a> }.into_any();
    view! { <Card id="dry" title=t.nearest_dry() end=end>{inside}</Card> }
}

fn row(tenant: Driest) -> Row {
    let read = |text: &api_types::Decimal| text.amount(tenant.unit).unwrap_or_default();
    let figures = Figures {
        unit: tenant.unit,
        total: Some(read(&tenant.total)),
        used: read(&tenant.used),
        frozen: Amount::ZERO,
        remaining: Some(read(&tenant.remaining)),
        debt: Amount::ZERO,
        overdraft_limit: Amount::ZERO,
        overdraft_used: Amount::ZERO,
        credit_limit: Amount::ZERO,
    };
    let class = if tenant.remaining_percent <= 0 { "bad" } else { "" };
    let cells = vec![
        named(tenant.name.clone(), Some(format!("/tenants/{}", tenant.tenant_id)), text("")),
        view! { <Gate figures=figures about=tenant.name size=Size::Mini/> }.into_any(),
        text(format::short(tenant.total.as_str())),
        text(format::short(tenant.used.as_str())),
        text(format::short(tenant.remaining.as_str())),
        text(format!("{} %", format::integer(tenant.remaining_percent))),
    ];
    Row { class, cells }
}
