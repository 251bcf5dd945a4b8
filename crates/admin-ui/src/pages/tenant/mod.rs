//! A tenant: its four numbers live, its grants in burn order, its projects.

mod add_grant;
mod beyond;
mod grants;
mod head;
mod project_list;
mod projects_table;
mod quota;
pub mod standing;
pub mod wire;

use std::time::Duration;

use api_types::tenant::Tenant;
use leptos::prelude::*;
use leptos_router::hooks::{use_location, use_params_map};

use crate::api::{grants as grants_api, projects as projects_api, tenants};
use crate::browser;
use crate::components::states::{Failed, Loading};
use crate::fetch::fetch;
use crate::pages::project::create::CreateProjectDialog;

use add_grant::AddGrantDialog;
use beyond::BeyondTheGate;
use grants::GrantsCard;
use head::{Head, Tab};
use project_list::ProjectBudgets;
use projects_table::ProjectsCard;
use quota::QuotaCard;

/// How often the four numbers are read: a person watching a call sees it freeze and settle.
const LIVE: Duration = Duration::from_secs(2);
const REFRESH: Duration = Duration::from_secs(10);

/// The page of one tenant.
#[component]
pub fn TenantPage() -> impl IntoView {
    let params = use_params_map();
    let id = Memo::new(move |_| params.read().get("tenant").unwrap_or_default());
    let tenant = fetch(move || id.get(), |id| async move { tenants::one(&id).await });
    let path = use_location().pathname;
    let tab = Memo::new(move |_| if path.read().ends_with("/projects") { Tab::Projects } else { Tab::Quota });
    // The tenant's name and settings change rarely; only another tenant builds the page anew.
    let known = Memo::new(move |_| tenant.data.get());
    move || match known.get() {
        Some(tenant) => {
            browser::set_title(&tenant.name);
            match tab.get() {
                Tab::Quota => view! { <QuotaTab tenant=tenant/> }.into_any(),
                Tab::Projects => view! { <ProjectsTab tenant=tenant/> }.into_any(),
            }
        }
        None => match tenant.failure.get() {
            Some(failure) => {
                let again = Callback::new(move |()| tenant.again());
                view! { <section class="card"><Failed failure=failure on_again=again/></section> }.into_any()
            }
            None => view! { <section class="card"><Loading rows=6/></section> }.into_any(),
        },
    }
}

#[component]
fn QuotaTab(tenant: Tenant) -> impl IntoView {
    let id = StoredValue::new(tenant.id.to_string());
    let quota = fetch(move || id.get_value(), |id| async move { tenants::quota(&id).await });
    quota.poll(LIVE);
    let grants = fetch(move || id.get_value(), |id| async move { grants_api::list(&id).await });
    grants.poll(REFRESH);
    let projects = fetch(move || id.get_value(), |id| async move { projects_api::list(&id).await });
    projects.poll(REFRESH);
    let adding = RwSignal::new(false);
    let creating = RwSignal::new(false);
    let changed = Callback::new(move |()| {
        quota.again();
        grants.again();
    });
    let unit = tenant.unit;
    let count = Signal::derive(move || projects.data.read().as_ref().map(|page| page.items.len()));
    let (for_quota, for_side) = (tenant.clone(), tenant.clone());
    view! {
        <Head tenant=tenant.clone() tab=Tab::Quota projects=count on_add_grant=Callback::new(move |()| adding.set(true))/>
        <QuotaCard tenant=for_quota quota=quota/>
        <div class="cols main-side">
            <div class="stack"><GrantsCard tenant=tenant grants=grants quota=quota on_add=Callback::new(move |()| adding.set(true))/></div>
            <div class="stack">
                <ProjectBudgets tenant=id.get_value() projects=projects on_create=Callback::new(move |()| creating.set(true))/>
                <BeyondTheGate tenant=for_side quota=quota/>
            </div>
        </div>
        {move || adding.get().then(|| view! {
            <AddGrantDialog tenant=id.get_value() unit=unit on_close=Callback::new(move |()| adding.set(false)) on_added=changed/>
        })}
        {move || creating.get().then(|| view! {
            <CreateProjectDialog tenant=id.get_value() unit=unit on_close=Callback::new(move |()| creating.set(false))/>
        })}
    }
}

#[component]
fn ProjectsTab(tenant: Tenant) -> impl IntoView {
    let id = StoredValue::new(tenant.id.to_string());
    let unit = tenant.unit;
    let projects = fetch(move || id.get_value(), |id| async move { projects_api::list(&id).await });
    projects.poll(REFRESH);
    let creating = RwSignal::new(false);
    let create = Callback::new(move |()| creating.set(true));
    let count = Signal::derive(move || projects.data.read().as_ref().map(|page| page.items.len()));
    view! {
        <Head tenant=tenant tab=Tab::Projects projects=count on_create_project=create/>
        <ProjectsCard tenant=id.get_value() projects=projects on_create=create/>
        {move || creating.get().then(|| view! {
            <CreateProjectDialog tenant=id.get_value() unit=unit on_close=Callback::new(move |()| creating.set(false))/>
        })}
    }
}
