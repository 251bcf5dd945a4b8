//! The latest changes of a quota.

use api_types::Page;
use api_types::quota_change::QuotaChange;
use domain::Unit;
use leptos::prelude::*;

use crate::components::card::Card;
use crate::components::states::Empty;
use crate::components::table::{Column, Row, Table, named, text};
use crate::components::written;
use crate::fetch::Fetch;
use crate::format;
use crate::i18n::language;
use crate::pages::listed::listed;

/// The latest changes with their reasons.
#[component]
pub fn QuotaChangesCard(
    /// The changes.
    changes: Fetch<Page<QuotaChange>>,
    /// What they count in.
    unit: Unit,
) -> impl IntoView {
    let t = language();
    let row = move |change: QuotaChange| {
        let raises = change.delta.amount(unit).is_ok_and(|by| by.is_positive());
        let sign = if raises { "+" } else { "" };
        let after = change.after.total.map(|total| format::short(total.as_str())).unwrap_or_default();
        let under = if change.recurring { t.recurring() } else { "" };
        Row::new(vec![
            named(change.reason, None, text(under)),
            text(format!("{sign}{}", format::short(change.delta.as_str()))),
            text(after),
            text(written::moment(change.at, t, None)),
            text(change.by),
        ])
    };
    let table = move |items: Vec<QuotaChange>| {
        let columns = vec![
            Column::name(t.reason()),
            Column::number(t.change_by()),
            Column::number(t.total()),
            Column::text(t.when()),
            Column::aside(t.made_by()),
        ];
        view! { <Table caption=t.quota_changes() columns=columns rows=items.into_iter().map(row).collect() class="c3"/> }
            .into_any()
    };
    let empty = move || {
        view! { <Empty icon="balance" title=t.no_quota_changes() hint=t.no_quota_changes_hint()>""</Empty> }.into_any()
    };
    view! { <Card id="changes" title=t.quota_changes()>{listed(changes, 2, table, empty)}</Card> }
}
