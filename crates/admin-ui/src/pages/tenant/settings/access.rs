//! Suspending a tenant and letting it go on.

use api_types::tenant::{Reason, Tenant, TenantStatus};
use leptos::prelude::*;

use crate::api::tenants;
use crate::components::button::{Button, opener};
use crate::components::card::Card;
use crate::components::field::TextField;
use crate::components::toasts::Toasts;
use crate::fetch::Fetch;
use crate::i18n::language;
use crate::pages::force::tell;
use crate::pages::form::{Form, typed};
use crate::pages::form_dialog::Ask;

/// The card; nothing for a closed tenant.
#[component]
pub fn AccessCard(
    /// The tenant.
    tenant: Tenant,
    /// Where it is read again.
    fetched: Fetch<Tenant>,
) -> impl IntoView {
    let t = language();
    let suspend = match tenant.status {
        TenantStatus::Active => true,
        TenantStatus::Suspended => false,
        TenantStatus::Closed => return None,
    };
    let (action, words) = if suspend { (t.suspend(), t.suspend_words()) } else { (t.resume(), t.resume_words()) };
    let asking = RwSignal::new(None::<()>);
    let tenant = StoredValue::new(tenant);
    let dialog = move || {
        asking.get().map(|()| {
            let close = Callback::new(move |()| asking.set(None));
            view! { <AskAccess tenant=tenant.get_value() suspend=suspend fetched=fetched on_close=close/> }
        })
    };
    Some(view! {
        <Card id="access" title=t.access()>
            <div class="card-body stack">
                <p class="small muted">{words}</p>
                <div><Button words=action class={if suspend { "danger" } else { "" }} on_press=opener(asking, ())/></div>
            </div>
        </Card>
        {dialog}
    })
}

#[component]
fn AskAccess(tenant: Tenant, suspend: bool, fetched: Fetch<Tenant>, on_close: Callback<()>) -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let form = Form::new();
    let reason = typed("");
    let id = tenant.id.to_string();
    let yes = Callback::new(move |()| {
        let (id, why) = (id.clone(), Reason { reason: reason.get_untracked().trim().to_owned() });
        form.send(async move { tenants::set_suspended(&id, suspend, &why).await }, move |changed| {
            tell(toasts, t, if suspend { t.suspended_now() } else { t.resumed_now() }, changed.in_force);
            on_close.run(());
            fetched.again();
        });
    });
    let (action, words) = if suspend { (t.suspend(), t.suspend_words()) } else { (t.resume(), t.resume_words()) };
    view! {
        <Ask title=action words=words action=action form=form on_yes=yes on_close=on_close>
            <TextField name="reason" label=t.reason() hint=t.reason_hint() value=reason failure=form.failure autofocus=true/>
        </Ask>
    }
}
