//! The fields of a tenant's settings, by card.

use domain::Unit;
use leptos::prelude::*;

use super::typed::SettingsTyped;
use crate::api::Failure;
use crate::browser;
use crate::components::field::{AmountField, SelectField, TextField};
use crate::components::segmented::Segmented;
use crate::components::switch::Switch;
use crate::i18n::language;

/// Name, external id, time zone, multiplier.
#[component]
pub fn GeneralFields(
    /// What is typed.
    typed: SettingsTyped,
    /// The form's last failure.
    failure: RwSignal<Option<Failure>>,
) -> impl IntoView {
    let t = language();
    let mut zones = browser::time_zones();
    let own = typed.time_zone.get_untracked();
    if !zones.contains(&own) {
        zones.push(own);
    }
    let zones = zones.into_iter().map(|zone| (zone.clone(), zone)).collect::<Vec<_>>();
    view! {
        <div class="card-body form-grid">
            <TextField name="name" label=t.name() value=typed.name failure=failure/>
            <TextField name="external_id" label=t.external_id() hint=t.external_id_hint() value=typed.external_id failure=failure/>
            <SelectField name="time_zone" label=t.time_zone() hint=t.time_zone_hint() choices=zones value=typed.time_zone failure=failure/>
            <TextField name="settings.multiplier" label=t.multiplier() hint=t.multiplier_hint() value=typed.multiplier failure=failure/>
        </div>
    }
}

/// Credit line, overdraft, hard stop.
#[component]
pub fn BeyondFields(
    /// What is typed.
    typed: SettingsTyped,
    /// What the tenant counts in.
    unit: Unit,
    /// The form's last failure.
    failure: RwSignal<Option<Failure>>,
) -> impl IntoView {
    let t = language();
    let how_far = move || {
        let field = if typed.overdraft_as.get() == "amount" {
            view! { <AmountField name="settings.overdraft.limit" label=t.overdraft_amount() unit=unit.as_str() value=typed.limit failure=failure/> }.into_any()
        } else {
            view! { <AmountField name="settings.overdraft.percent" label=t.overdraft_percent() unit="%" value=typed.percent failure=failure/> }.into_any()
        };
        typed.overdraft.get().then_some(field)
    };
    let choice = move || {
        typed.overdraft.get().then(|| {
            let choices = vec![("percent", t.as_percent()), ("amount", t.as_amount())];
            view! { <Segmented name="overdraft_as" label=t.overdraft_as() choices=choices value=typed.overdraft_as/> }
        })
    };
    view! {
        <div class="card-body stack">
            <div class="form-grid">
                <AmountField name="settings.credit_limit" label=t.credit_line() hint=t.credit_line_hint() unit=unit.as_str() value=typed.credit_limit failure=failure/>
            </div>
            <Switch name="settings.overdraft.enabled" label=t.allow_overdraft() hint=t.allow_overdraft_hint() value=typed.overdraft/>
            <div class="form-grid">{choice}{how_far}</div>
            <Switch name="settings.hard_stop" label=t.hard_stop_words() hint=t.hard_stop_hint() value=typed.hard_stop/>
        </div>
    }
}

/// Thresholds and tolerance.
#[component]
pub fn WarningFields(
    /// What is typed.
    typed: SettingsTyped,
    /// The form's last failure.
    failure: RwSignal<Option<Failure>>,
) -> impl IntoView {
    let t = language();
    view! {
        <div class="card-body form-grid">
            <TextField name="settings.thresholds" label=t.thresholds() hint=t.thresholds_hint() value=typed.thresholds failure=failure/>
            <TextField name="settings.settle_tolerance" label=t.tolerance() hint=t.tolerance_hint() value=typed.tolerance failure=failure/>
        </div>
    }
}
