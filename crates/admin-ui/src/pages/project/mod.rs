//! A project: its budget, its keys, and the moment in which a key's secret is shown.

pub mod create;
mod create_key;
mod key_created;
mod keys;
mod quota;

use std::time::Duration;

use api_types::key::Key;
use api_types::project::Project;
use api_types::tenant::Tenant;
use leptos::prelude::*;
use leptos_router::hooks::use_params_map;

use crate::api::{keys as keys_api, projects, tenants};
use crate::browser;
use crate::components::copy::Id;
use crate::components::crumbs::{Crumb, Crumbs};
use crate::components::icon::Icon;
use crate::components::states::{Failed, Loading};
use crate::fetch::fetch;
use crate::i18n::language;
use crate::session::Session;

use create_key::CreateKeyDialog;
use key_created::KeyCreated;
use keys::KeysCard;
use quota::BudgetCard;

const LIVE: Duration = Duration::from_secs(2);
const REFRESH: Duration = Duration::from_secs(10);

/// The page of one project.
#[component]
pub fn ProjectPage() -> impl IntoView {
    let params = use_params_map();
    let ids = Memo::new(move |_| {
        let params = params.read();
        (params.get("tenant").unwrap_or_default(), params.get("project").unwrap_or_default())
    });
    let tenant = fetch(move || ids.get().0, |id| async move { tenants::one(&id).await });
    let project = fetch(move || ids.get().1, |id| async move { projects::one(&id).await });
    project.poll(LIVE);
    // The numbers move; only another project or a changed one builds the page anew.
    let known = Memo::new(move |_| {
        let (tenant, project) = (tenant.data.get()?, project.data.get()?);
        Some((tenant, Settled(project)))
    });
    move || match known.get() {
        Some((tenant, Settled(first))) => view! { <Loaded tenant=tenant first=first project=project/> }.into_any(),
        None => match tenant.failure.get().or_else(|| project.failure.get()) {
            Some(failure) => {
                let again = Callback::new(move |()| {
                    tenant.again();
                    project.again();
                });
                view! { <section class="card"><Failed failure=failure on_again=again/></section> }.into_any()
            }
            None => view! { <section class="card"><Loading rows=6/></section> }.into_any(),
        },
    }
}

/// A project, the same as another while only its numbers differ.
#[derive(Clone)]
struct Settled(Project);

impl PartialEq for Settled {
    fn eq(&self, other: &Self) -> bool {
        (self.0.id, self.0.version) == (other.0.id, other.0.version)
    }
}

#[component]
fn Loaded(tenant: Tenant, first: Project, project: crate::fetch::Fetch<Project>) -> impl IntoView {
    let id = StoredValue::new(first.id.to_string());
    let keys = fetch(move || id.get_value(), |id| async move { keys_api::list(&id).await });
    keys.poll(REFRESH);
    let creating = RwSignal::new(false);
    let created = RwSignal::new(None::<Key>);
    let create = Callback::new(move |()| creating.set(true));
    let name = first.name.clone();
    let tenant_name = StoredValue::new((tenant.id.to_string(), tenant.name.clone()));
    let unit = tenant.unit;
    let first = StoredValue::new(first);
    let overview = move || {
        browser::set_title(&name);
        view! {
            <Head tenant=tenant_name.get_value() project=first.get_value() on_create=create/>
            <div class="cols main-side">
                <div class="stack"><KeysCard keys=keys on_create=create/></div>
                <div class="stack"><BudgetCard project=project first=first.get_value()/></div>
            </div>
            {move || creating.get().then(|| view! {
                <CreateKeyDialog project=id.get_value() unit=unit on_close=Callback::new(move |()| creating.set(false))
                    on_created=Callback::new(move |key| {
                        creating.set(false);
                        created.set(Some(key));
                    })/>
            })}
        }
    };
    move || match created.get() {
        None => overview().into_any(),
        Some(key) => {
            let done = Callback::new(move |()| {
                created.set(None); // the secret leaves the page's memory with it
                keys.again();
            });
            view! { <KeyCreated tenant=tenant_name.get_value() project=first.get_value() key=key on_done=done/> }
                .into_any()
        }
    }
}

#[component]
fn Head(tenant: (String, String), project: Project, on_create: Callback<()>) -> impl IntoView {
    let t = language();
    let session = expect_context::<Session>();
    let (tenant_id, tenant_name) = tenant;
    let way = vec![
        Crumb::to(t.tenants(), "/tenants"),
        Crumb::to(tenant_name, format!("/tenants/{tenant_id}")),
        Crumb::to(t.projects(), format!("/tenants/{tenant_id}/projects")),
        Crumb::here(project.name.clone()),
    ];
    view! {
        <header class="page-head">
            <Crumbs way=way/>
            <div class="page-title">
                <h1>{project.name}</h1>
                <div class="actions">
                    {move || session.may_own().then(|| view! {
                        <button class="btn primary" type="button" on:click=move |_| on_create.run(())><Icon name="plus"/>{t.new_key()}</button>
                    })}
                </div>
            </div>
            <dl class="facts"><div><dt class="vh">{t.id_word()}</dt><dd><Id id=project.id.to_string()/></dd></div></dl>
        </header>
    }
}
