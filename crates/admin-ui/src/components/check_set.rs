//! Several of a list, as boxes to tick.

use leptos::prelude::*;

use super::field::{FieldError, control_id, field_error};
use crate::api::Failure;
use crate::i18n::language;

/// Boxes to tick.
#[component]
pub fn CheckSet(
    /// The field's path in the request body; also makes the ids.
    name: &'static str,
    /// Above the boxes.
    label: &'static str,
    /// Below them.
    #[prop(default = "")]
    hint: &'static str,
    /// Each choice's value and words; where they are the same, the value is shown in the type of code.
    choices: Vec<(String, String)>,
    /// The values chosen.
    chosen: RwSignal<Vec<String>>,
    /// The form's last failure.
    failure: RwSignal<Option<Failure>>,
) -> impl IntoView {
    let t = language();
    let error = field_error(t, failure, name);
    let one = move |(value, words): (String, String)| {
        let class = if value == words { "mono" } else { "" };
        let (on, own) = (value.clone(), value.clone());
        let toggle = move |event| {
            let wanted = event_target_checked(&event);
            chosen.update(|chosen| {
                chosen.retain(|other| *other != own);
                if wanted {
                    chosen.push(own.clone());
                }
            });
        };
        view! {
            <label class="choice">
                <input class="check" type="checkbox" name=name value=value prop:checked=move || chosen.read().contains(&on) on:change=toggle/>
                <span class=class>{words}</span>
            </label>
        }
        .into_any()
    };
    let described = format!("{0}-error {0}-hint", control_id(name));
    view! {
        <fieldset class="field" aria-describedby=described>
            <legend>{label}</legend>
            <div class="check-set">{choices.into_iter().map(one).collect::<Vec<_>>()}</div>
            {move || error.get().map(|words| view! { <FieldError name=name words=words/> })}
            {(!hint.is_empty()).then(|| view! { <p class="hint" id=format!("{}-hint", control_id(name))>{hint}</p> })}
        </fieldset>
    }
}
