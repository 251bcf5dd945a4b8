//! A tenant's settings: one form, saved as a whole on the version that was read.

mod access;
mod fields;
mod outage;
mod typed;

use api_types::tenant::Tenant;
use leptos::prelude::*;

use super::REFRESH;
use super::head::{Head, Tab};
use super::members::MembersCard;
use crate::api::tenants;
use crate::components::badge::Tone;
use crate::components::button::Button;
use crate::components::card::Card;
use crate::components::limits_use::LimitsUse;
use crate::components::live::live;
use crate::components::notice::{FormFailure, Notice};
use crate::components::toasts::Toasts;
use crate::fetch::{Fetch, fetch};
use crate::i18n::language;
use crate::pages::force::tell;
use crate::pages::form::Form;
use crate::pages::limits_fields::{LimitsFields, OF_SETTINGS};
use crate::session::Session;

use access::AccessCard;
use fields::{BeyondFields, GeneralFields, WarningFields};
use outage::OutageFields;
use typed::SettingsTyped;

/// The settings' part of the tenant's page.
#[component]
pub fn SettingsTab(
    /// As it was read.
    tenant: Tenant,
    /// Where it is read again.
    fetched: Fetch<Tenant>,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let id = StoredValue::new(tenant.id.to_string());
    // The use of limits moves; the form stands on what was read when it was opened.
    let present = fetch(move || id.get_value(), |id| async move { tenants::one(&id).await });
    present.poll(REFRESH);
    let t = language();
    let unit = tenant.unit;
    let uses = live(move || {
        let windows = present.data.read().as_ref().and_then(|tenant| tenant.windows.clone()).unwrap_or_default();
        view! { <LimitsUse windows=windows unit=unit/> }
    });
    view! {
        <Head tenant=tenant.clone() tab=Tab::Settings/>
        <div class="cols main-side">
            <div class="stack">
                <SettingsForm tenant=tenant.clone() fetched=fetched/>
                {session.may_manage_people().then(|| view! { <MembersCard tenant=id.get_value()/> })}
            </div>
            <div class="stack">
                <Card id="limits-use" title=t.limits_in_use()>{uses}</Card>
                {session.may_operate().then(|| view! { <AccessCard tenant=tenant fetched=fetched/> })}
            </div>
        </div>
    }
}

#[component]
fn SettingsForm(tenant: Tenant, fetched: Fetch<Tenant>) -> impl IntoView {
    let t = language();
    let session = expect_context::<Session>();
    let toasts = expect_context::<Toasts>();
    let form = Form::new();
    let typed = SettingsTyped::of(&tenant);
    let (id, version, unit) = (tenant.id.to_string(), tenant.version, tenant.unit);
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        let Some(change) = typed.change(form) else { return };
        let id = id.clone();
        form.send(async move { tenants::change(&id, version, &change).await }, move |saved| {
            tell(toasts, t, t.settings_saved(), saved.in_force);
            fetched.data.set(saved);
            fetched.again();
        });
    };
    let stale = live(move || {
        let failure = form.failure.get();
        failure.is_some_and(|failure| failure.code() == Some("precondition_failed")).then(|| {
            view! {
                <Notice tone=Tone::Warn>
                    <Button words=t.read_again() icon="refresh" class="sm" on_press=Callback::new(move |()| fetched.again())/>
                </Notice>
            }
        })
    });
    let failure = form.failure;
    let may = session.may_operate();
    let foot = may.then(|| {
        view! {
            <div class="form-foot">
                <FormFailure failure=failure/>
                {stale}
                <button class="btn primary" type="submit" aria-busy=move || form.busy.get().then_some("true")>
                    {move || if form.busy.get() { t.saving() } else { t.save_settings() }}
                </button>
            </div>
        }
    });
    view! {
        <form class="stack" novalidate on:submit=submit>
            <fieldset class="plain stack" disabled=!may>
                <legend class="vh">{t.settings()}</legend>
                <Card id="general" title=t.general()><GeneralFields typed=typed failure=failure/></Card>
                <Card id="beyond-set" title=t.beyond_the_gate()><BeyondFields typed=typed unit=unit failure=failure/></Card>
                <Card id="warnings" title=t.warnings()><WarningFields typed=typed failure=failure/></Card>
                <Card id="limits" title=t.limits()>
                    <div class="card-body stack"><LimitsFields typed=typed.limits names=OF_SETTINGS unit=unit failure=failure/></div>
                </Card>
                <Card id="outage" title=t.outage()><OutageFields steps=typed.outage failure=failure/></Card>
            </fieldset>
            {foot}
        </form>
    }
}
