//! Names and values, one under the other.

use leptos::prelude::*;

/// Names and values.
#[component]
pub fn Kv(
    /// Each a name and its value.
    rows: Vec<(&'static str, AnyView)>,
) -> impl IntoView {
    let one = |(name, value): (&'static str, AnyView)| view! { <dt>{name}</dt><dd>{value}</dd> }.into_any();
    view! { <dl class="kv">{rows.into_iter().map(one).collect::<Vec<_>>()}</dl> }
}
