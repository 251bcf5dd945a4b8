//! A tenant: its four numbers live, its grants in burn order, its projects, its books, its settings.

mod add_grant;
mod beyond;
mod end_grant;
mod grants;
mod head;
mod live;
mod members;
mod project_list;
mod projects_table;
mod quota;
mod settings;
pub mod standing;
mod tabs;
pub mod wire;

use std::time::Duration;

use api_types::tenant::Tenant;
use leptos::prelude::*;

use crate::api::tenants;
use crate::browser;
use crate::fetch::{Fetch, fetch};
use crate::pages::listed::page;
use crate::place;
use crate::router::Router;

use head::Tab;
use live::LiveTab;
use settings::SettingsTab;
use tabs::{ProjectsTab, QuotaTab};

/// How often the four numbers are read: a person watching a call sees it freeze and settle.
const LIVE: Duration = Duration::from_secs(2);
const REFRESH: Duration = Duration::from_secs(10);

/// The page of one tenant.
#[component]
pub fn TenantPage() -> impl IntoView {
    let id = place::id_after("tenants");
    let tenant: Fetch<Tenant> = fetch(move || id.get(), |id| async move { tenants::one(&id).await });
    let router = expect_context::<Router>();
    let tab = Memo::new(move |_| Tab::of(&router.path()));
    // The tenant's name and settings change rarely; only another or a changed tenant builds the page anew.
    page(
        tenant,
        |before, now| (before.id, before.version) == (now.id, now.version),
        move |known| {
            browser::set_title(&known.name);
            match tab.get() {
                Tab::Quota => view! { <QuotaTab tenant=known/> }.into_any(),
                Tab::Projects => view! { <ProjectsTab tenant=known/> }.into_any(),
                Tab::Live => view! { <LiveTab tenant=known/> }.into_any(),
                Tab::Settings => view! { <SettingsTab tenant=known fetched=tenant/> }.into_any(),
            }
        },
    )
}
