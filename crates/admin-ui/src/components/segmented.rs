//! Radios that look like one control: one of a few, all visible.

use leptos::prelude::*;

/// One of a few.
#[component]
pub fn Segmented(
    /// Names the group in the page; also makes the ids.
    name: &'static str,
    /// Above it.
    label: &'static str,
    /// The label is for screen readers only.
    #[prop(optional)]
    label_hidden: bool,
    /// Below it.
    #[prop(optional)]
    hint: &'static str,
    /// Each choice's value and words.
    choices: Vec<(&'static str, &'static str)>,
    /// The value chosen.
    value: RwSignal<&'static str>,
    /// Smaller.
    #[prop(optional)]
    small: bool,
) -> impl IntoView {
    let one = move |(key, words): (&'static str, &'static str)| {
        view! {
            <label>
                <input type="radio" name=name value=key prop:checked=move || value.get() == key on:change=move |_| value.set(key)/>
                {words}
            </label>
        }
    };
    let class = if small { "segmented sm" } else { "segmented" };
    let inner = view! {
        <fieldset class=class>
            <legend class="vh">{label}</legend>
            {choices.into_iter().map(one).collect_view()}
        </fieldset>
    };
    if label_hidden {
        return inner.into_any();
    }
    view! {
        <div class="field">
            <span class="label" aria-hidden="true">{label}</span>
            {inner}
            {(!hint.is_empty()).then(|| view! { <p class="hint">{hint}</p> })}
        </div>
    }
    .into_any()
}
