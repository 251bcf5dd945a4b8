//! How much of something is spent, as a bar in a table cell.

use domain::Amount;
use leptos::prelude::*;

use crate::figures::svg_percent;
use crate::format;

/// Spent of an amount.
#[component]
pub fn SpentBar(
    /// Spent.
    used: Amount,
    /// The whole.
    amount: Amount,
) -> impl IntoView {
    let width = if amount.is_positive() {
        let share = i128::from(used.units()) * 10_000 / i128::from(amount.units());
        i64::try_from(share.clamp(0, 10_000)).unwrap_or(10_000)
    } else {
        0
    };
    view! {
        <svg class="hbar" role="img" aria-label=format::percent(used, amount)>
            <rect class="t" width="100%" height="10" rx="2"></rect>
            <rect class="v" width=svg_percent(width) height="10" rx="2"></rect>
        </svg>
    }
}
