//! What the bar's textures mean.

use leptos::prelude::*;

use super::swatch::{Part, Swatch};
use crate::i18n::language;

/// Every part of the bar with its word.
#[component]
pub fn QuotaLegend() -> impl IntoView {
    let t = language();
    let parts = [
        (Part::Used, t.legend_used()),
        (Part::Frozen, t.legend_in_flight()),
        (Part::Remaining, t.legend_remaining()),
        (Part::Total, t.legend_gate()),
        (Part::Overdraft, t.legend_overdraft()),
        (Part::Debt, t.legend_debt()),
    ];
    let one = |(part, word)| view! { <span><Swatch part=part/>{word}</span> };
    view! { <div class="legend">{parts.map(one).collect_view()}</div> }
}
