//! The little pictures that tie a word to its part of the bar.

use leptos::prelude::*;

/// A part of the quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The gate.
    Total,
    /// Solid.
    Used,
    /// Hatched.
    Frozen,
    /// Empty.
    Remaining,
    /// Dotted.
    Overdraft,
    /// Crossed.
    Debt,
}

/// The picture of a part.
#[component]
pub fn Swatch(
    /// Which.
    part: Part,
) -> impl IntoView {
    let inside = match part {
        Part::Total => {
            view! { <path class="q-gate" d="M7 0v14"></path><rect class="q-gate-cap" x="4" y="0" width="6" height="3"></rect> }
                .into_any()
        }
        Part::Used => view! { <rect class="q-used" y="2" width="14" height="10" rx="2"></rect> }.into_any(),
        Part::Frozen => framed("q-frozen-bg", Some("url(#pat-frozen)")),
        Part::Remaining => framed("q-track", None),
        Part::Overdraft => framed("q-od-bg", Some("url(#pat-od)")),
        Part::Debt => framed("q-debt-bg", Some("url(#pat-debt)")),
    };
    view! { <svg class="swatch" viewBox="0 0 14 14" aria-hidden="true">{inside}</svg> }
}

fn framed(class: &'static str, pattern: Option<&'static str>) -> AnyView {
    view! {
        <rect class=class x=".5" y="2.5" width="13" height="9" rx="2"></rect>
        {pattern.map(|fill| view! { <rect x="1" y="3" width="12" height="8" fill=fill></rect> })}
    }
    .into_any()
}
