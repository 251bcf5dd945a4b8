//! How far limits are used up.

use api_types::limits::LimitWindow;
use domain::{LimitName, Unit};
use leptos::prelude::*;

use super::spent_bar::SpentBar;
use super::table::{Column, Row, Table, named, text};
use super::written;
use crate::format;
use crate::i18n::language;

/// The present use of each limit that is set, or a word that none is.
#[component]
pub fn LimitsUse(
    /// As the API sent them.
    windows: Vec<LimitWindow>,
    /// What the account counts in.
    unit: Unit,
) -> impl IntoView {
    let t = language();
    if windows.is_empty() {
        return view! { <p class="card-body small muted">{t.no_limits_set()}</p> }.into_any();
    }
    let row = |window: LimitWindow| {
        let counts_in = if window.name == LimitName::MaxPerRequest { unit } else { Unit::Token };
        let parts = window.used.amount(counts_in).ok().zip(window.limit.amount(counts_in).ok());
        let bar = parts.map(|(used, limit)| view! { <SpentBar used=used amount=limit/> });
        let resets = window.resets_at.map(|at| written::clock(at, t)).unwrap_or_default();
        let under = if resets.is_empty() { String::new() } else { t.free_again_at(&resets) };
        Row::new(vec![
            named(t.limit_name(window.name), None, text(under)),
            bar.into_any(),
            text(format!("{} / {}", format::short(window.used.as_str()), format::short(window.limit.as_str()))),
        ])
    };
    let columns = vec![Column::name(t.limit()), Column::bar(t.used_up()), Column::number(t.used_of_limit())];
    view! { <Table caption=t.limits_in_use() columns=columns rows=windows.into_iter().map(row).collect() class="tight"/> }
        .into_any()
}
