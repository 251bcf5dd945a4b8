//! The parts of a tenant's page that people come for every day: quota and projects.

use api_types::grant::Grant;
use api_types::tenant::Tenant;
use leptos::prelude::*;

use super::add_grant::AddGrantDialog;
use super::beyond::BeyondTheGate;
use super::end_grant::EndGrantDialog;
use super::grants::GrantsCard;
use super::head::{Head, Tab};
use super::project_list::ProjectBudgets;
use super::projects_table::ProjectsCard;
use super::quota::QuotaCard;
use super::{LIVE, REFRESH};
use crate::api::quota_changes::Whose;
use crate::api::{grants as grants_api, projects as projects_api, quota_changes, tenants};
use crate::components::button::{Button, opener};
use crate::fetch::fetch;
use crate::i18n::language;
use crate::pages::project::create::CreateProjectDialog;
use crate::pages::quota_change::dialog::QuotaChangeDialog;
use crate::pages::quota_change::list::QuotaChangesCard;
use crate::session::Session;

/// The dialog that is open.
#[derive(Clone)]
enum Open {
    AddGrant,
    ChangeQuota,
    CreateProject,
    EndGrant(Box<Grant>),
}

/// The four numbers, the grants, budgets, what lies beyond the gate, and the latest changes.
#[component]
pub fn QuotaTab(
    /// The tenant.
    tenant: Tenant,
) -> impl IntoView {
    let t = language();
    let session = expect_context::<Session>();
    let id = StoredValue::new(tenant.id.to_string());
    let whose = Whose::Tenant(id.get_value());
    let quota = fetch(move || id.get_value(), |id| async move { tenants::quota(&id).await });
    quota.poll(LIVE);
    let grants = fetch(move || id.get_value(), |id| async move { grants_api::list(&id).await });
    grants.poll(REFRESH);
    let projects = fetch(move || id.get_value(), |id| async move { projects_api::list(&id).await });
    projects.poll(REFRESH);
    let asked = whose.clone();
    let changes = fetch(
        move || id.get_value(),
        move |_| {
            let whose = asked.clone();
            async move { quota_changes::list(&whose).await }
        },
    );
    let open = RwSignal::new(None::<Open>);
    let close = Callback::new(move |()| open.set(None));
    let changed = Callback::new(move |()| {
        quota.again();
        grants.again();
        changes.again();
    });
    let count = Signal::derive(move || projects.data.read().as_ref().map(|page| page.items.len()));
    let actions = move || {
        session.may_operate().then(|| {
            view! {
                <Button words=t.change_quota() icon="balance" on_press=opener(open, Open::ChangeQuota)/>
                <Button words=t.add_grant() icon="plus" class="primary" on_press=opener(open, Open::AddGrant)/>
            }
            .into_any()
        })
    };
    let unit = tenant.unit;
    let (for_quota, for_side, for_dialog) = (tenant.clone(), tenant.clone(), StoredValue::new(tenant.clone()));
    let dialog = move || {
        open.get().map(|which| match which {
            Open::AddGrant => {
                view! { <AddGrantDialog tenant=id.get_value() unit=unit on_close=close on_added=changed/> }.into_any()
            }
            Open::ChangeQuota => {
                let tenant = for_dialog.get_value();
                view! { <QuotaChangeDialog whose=whose.clone() about=tenant.name unit=unit on_close=close on_changed=changed/> }.into_any()
            }
            Open::CreateProject => {
                view! { <CreateProjectDialog tenant=id.get_value() unit=unit on_close=close/> }.into_any()
            }
            Open::EndGrant(grant) => {
                view! { <EndGrantDialog grant=*grant on_close=close on_ended=changed/> }.into_any()
            }
        })
    };
    view! {
        <Head tenant=tenant.clone() tab=Tab::Quota projects=count actions=actions.into_any()/>
        <QuotaCard tenant=for_quota quota=quota/>
        <div class="cols main-side">
            <div class="stack">
                <GrantsCard tenant=tenant grants=grants quota=quota on_add=opener(open, Open::AddGrant)
                    on_end=Callback::new(move |grant| open.set(Some(Open::EndGrant(Box::new(grant)))))/>
                <QuotaChangesCard changes=changes unit=unit/>
            </div>
            <div class="stack">
                <ProjectBudgets tenant=id.get_value() projects=projects on_create=opener(open, Open::CreateProject)/>
                <BeyondTheGate tenant=for_side quota=quota/>
            </div>
        </div>
        {dialog}
    }
}

/// All projects.
#[component]
pub fn ProjectsTab(
    /// The tenant.
    tenant: Tenant,
) -> impl IntoView {
    let t = language();
    let session = expect_context::<Session>();
    let id = StoredValue::new(tenant.id.to_string());
    let unit = tenant.unit;
    let projects = fetch(move || id.get_value(), |id| async move { projects_api::list(&id).await });
    projects.poll(REFRESH);
    let creating = RwSignal::new(None::<()>);
    let create = opener(creating, ());
    let count = Signal::derive(move || projects.data.read().as_ref().map(|page| page.items.len()));
    let actions = move || {
        session.may_own().then(|| view! { <Button words=t.new_project() icon="plus" class="primary" on_press=create/> })
    };
    view! {
        <Head tenant=tenant tab=Tab::Projects projects=count actions=actions.into_any()/>
        <ProjectsCard tenant=id.get_value() projects=projects on_create=create/>
        {move || creating.get().map(|()| view! {
            <CreateProjectDialog tenant=id.get_value() unit=unit on_close=Callback::new(move |()| creating.set(None))/>
        })}
    }
}
