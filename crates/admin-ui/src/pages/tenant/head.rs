//! Who the tenant is: name, state, ids, period, and the page's tabs.

use api_types::tenant::Tenant;
use leptos::prelude::*;

use super::standing::TenantBadge;
use crate::components::copy::Id;
use crate::components::crumbs::{Crumb, Crumbs};
use crate::components::icon::Icon;
use crate::components::written;
use crate::i18n::language;
use crate::session::Session;

/// A part of the tenant's page with an address of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    /// The four numbers and the grants.
    Quota,
    /// Projects.
    Projects,
}

/// The head of the tenant's page.
#[component]
pub fn Head(
    /// The tenant.
    tenant: Tenant,
    /// The part shown.
    tab: Tab,
    /// How many projects, once known.
    #[prop(into)]
    projects: Signal<Option<usize>>,
    /// A grant is to be added.
    #[prop(optional, into)]
    on_add_grant: Option<Callback<()>>,
    /// A project is to be created.
    #[prop(optional, into)]
    on_create_project: Option<Callback<()>>,
) -> impl IntoView {
    let t = language();
    let session = expect_context::<Session>();
    let name = tenant.name.clone();
    let add_grant = move || {
        on_add_grant.filter(|_| session.may_operate()).map(|add| {
            view! { <button class="btn primary" type="button" on:click=move |_| add.run(())><Icon name="plus"/>{t.add_grant()}</button> }
        })
    };
    let create_project = move || {
        on_create_project.filter(|_| session.may_own()).map(|create| {
            view! { <button class="btn primary" type="button" on:click=move |_| create.run(())><Icon name="plus"/>{t.new_project()}</button> }
        })
    };
    view! {
        <header class="page-head">
            <Crumbs way=vec![Crumb::to(t.tenants(), "/tenants"), Crumb::here(name.clone())]/>
            <div class="page-title">
                <h1>{name}</h1>
                <TenantBadge tenant=tenant.clone()/>
                <span class="tag">{t.unit_tag(tenant.unit)}</span>
                <div class="actions">{add_grant}{create_project}</div>
            </div>
            <Facts tenant=tenant.clone()/>
        </header>
        <Tabs id=tenant.id.to_string() tab=tab projects=projects/>
    }
}

#[component]
fn Facts(tenant: Tenant) -> impl IntoView {
    let t = language();
    let resets = tenant.quota.resets_at.map(|at| written::moment(at, t, Some(&tenant.time_zone)));
    view! {
        <dl class="facts">
            <div><dt class="vh">{t.id_word()}</dt><dd><Id id=tenant.id.to_string()/></dd></div>
            {tenant.external_id.map(|id| view! { <div><dt>{t.external_id()}</dt><dd class="mono tiny">{id}</dd></div> })}
            <div><dt>{t.period()}</dt><dd>{t.period_in_zone(tenant.period.kind, &tenant.time_zone)}</dd></div>
            {resets.map(|at| view! { <div><dt>{t.resets()}</dt><dd>{at}</dd></div> })}
        </dl>
    }
}

#[component]
fn Tabs(id: String, tab: Tab, projects: Signal<Option<usize>>) -> impl IntoView {
    let t = language();
    let here = move |other: Tab| (tab == other).then_some("page");
    view! {
        <nav class="tabs" aria-label=t.sections()>
            <a href=format!("/tenants/{id}") aria-current=here(Tab::Quota)>{t.quota()}</a>
            <a href=format!("/tenants/{id}/projects") aria-current=here(Tab::Projects)>
                {t.projects()} " " <span class="n">{move || projects.get().map(|count| count.to_string())}</span>
            </a>
        </nav>
    }
}
