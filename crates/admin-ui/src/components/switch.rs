//! On or off.

use leptos::prelude::*;

/// A box to tick, with what it means.
#[component]
pub fn Switch(
    /// The field's path in the request body.
    name: &'static str,
    /// What it means to tick it.
    label: &'static str,
    /// A line under it.
    #[prop(default = "")]
    hint: &'static str,
    /// Whether it is ticked.
    value: RwSignal<bool>,
) -> impl IntoView {
    view! {
        <label class="choice">
            <input class="check" type="checkbox" name=name prop:checked=value on:change=move |event| value.set(event_target_checked(&event))/>
            <span>{label}{(!hint.is_empty()).then(|| view! { <span class="under-choice">{hint}</span> })}</span>
        </label>
    }
}
