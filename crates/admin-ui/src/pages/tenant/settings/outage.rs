//! What happens while the ledger is away: steps that come and go.

use domain::settings::{OutageMode, OutageStep};
use leptos::prelude::*;

use super::typed::StepTyped;
use crate::api::Failure;
use crate::components::button::Button;
use crate::components::field::{FieldError, field_error};
use crate::i18n::language;

const MOST: usize = 5;

/// The steps.
#[component]
pub fn OutageFields(
    /// In order.
    steps: RwSignal<Vec<StepTyped>>,
    /// The form's last failure.
    failure: RwSignal<Option<Failure>>,
) -> impl IntoView {
    let t = language();
    let error = field_error(t, failure, "settings.outage");
    let add = Callback::new(move |()| {
        steps.update(|steps| {
            let number = steps.iter().map(|step| step.number + 1).max().unwrap_or_default();
            steps.push(StepTyped::of(number, &OutageStep { mode: OutageMode::Deny, for_s: None }));
        });
    });
    let one = move |step: StepTyped| view! { <Step step=step steps=steps/> };
    view! {
        <div class="card-body stack">
            <p class="small muted">{t.outage_hint()}</p>
            <ol class="steps"><For each=move || steps.get() key=|step| step.number children=one/></ol>
            {move || error.get().map(|words| view! { <FieldError name="settings.outage" words=words/> })}
            {move || (steps.read().len() < MOST).then(|| view! {
                <div><Button words=t.add_step() icon="plus" class="sm" on_press=add/></div>
            })}
        </div>
    }
}

#[component]
fn Step(step: StepTyped, steps: RwSignal<Vec<StepTyped>>) -> impl IntoView {
    let t = language();
    let mode = move |mode: OutageMode| {
        let chosen = step.mode.get_untracked() == mode.as_str();
        view! { <option value=mode.as_str() selected=chosen>{t.outage_mode(mode)}</option> }
    };
    let remove = Callback::new(move |()| steps.update(|steps| steps.retain(|other| other.number != step.number)));
    let modes = [OutageMode::Deny, OutageMode::Allowance, OutageMode::Bypass].map(mode).collect_view();
    view! {
        <li class="affix-row">
            <select class="input" aria-label=t.mode() on:change=move |event| step.mode.set(event_target_value(&event))>{modes}</select>
            <input class="input num" type="text" inputmode="numeric" aria-label=t.seconds() placeholder=t.seconds()
                title=t.until_back() bind:value=step.for_s/>
            {move || (steps.read().len() > 1).then(|| view! { <Button words=t.remove_step() class="ghost sm" on_press=remove/> })}
        </li>
    }
}
