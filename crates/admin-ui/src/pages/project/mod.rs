//! A project: its budget, its keys, and the moment in which a key's secret is shown.

mod change;
pub mod create;
pub mod create_key;
mod key_created;
mod keys;
pub mod quota;

use std::time::Duration;

use api_types::key::Key;
use api_types::project::Project;
use api_types::tenant::Tenant;
use domain::Unit;
use leptos::prelude::*;

use crate::api::quota_changes::Whose;
use crate::api::{keys as keys_api, projects, tenants};
use crate::browser;
use crate::components::button::{Button, opener};
use crate::components::card::Card;
use crate::components::copy::Id;
use crate::components::crumbs::Crumb;
use crate::components::limits_use::LimitsUse;
use crate::components::live::live;
use crate::components::page_head::PageHead;
use crate::components::states::{Failed, Loading};
use crate::fetch::{Fetch, fetch};
use crate::i18n::language;
use crate::pages::quota_change::dialog::QuotaChangeDialog;
use crate::place;
use crate::session::Session;

use change::ChangeProjectDialog;
use create_key::CreateKeyDialog;
use key_created::KeyCreated;
use keys::KeysCard;
use quota::BudgetCard;

const LIVE: Duration = Duration::from_secs(2);
const REFRESH: Duration = Duration::from_secs(10);

/// The page of one project.
#[component]
pub fn ProjectPage() -> impl IntoView {
    let (tenant_id, project_id) = (place::id_after("tenants"), place::id_after("projects"));
    let tenant = fetch(move || tenant_id.get(), |id| async move { tenants::one(&id).await });
    let project = fetch(move || project_id.get(), |id| async move { projects::one(&id).await });
    project.poll(LIVE);
    // Of the page and not of what is built anew on it: a secret is shown once, and must not go because somebody else changed
    // the project.
    let open = RwSignal::new(None::<Open>);
    let created = RwSignal::new(None::<Key>);
    // The numbers move; only another project or a changed one builds the page anew.
    let known = Memo::new(move |_| {
        let (tenant, project) = (tenant.data.get()?, project.data.get()?);
        Some((tenant, Settled(project)))
    });
    live(move || match known.get() {
        Some((tenant, Settled(first))) => {
            view! { <Loaded tenant=tenant first=first project=project open=open created=created/> }.into_any()
        }
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
    })
}

/// A project, the same as another while only its numbers differ.
#[derive(Clone)]
struct Settled(Project);

impl PartialEq for Settled {
    fn eq(&self, other: &Self) -> bool {
        (self.0.id, self.0.version) == (other.0.id, other.0.version)
    }
}

/// The dialog that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    CreateKey,
    ChangeBudget,
    Change,
}

#[component]
fn Loaded(
    tenant: Tenant,
    first: Project,
    project: Fetch<Project>,
    open: RwSignal<Option<Open>>,
    created: RwSignal<Option<Key>>,
) -> impl IntoView {
    let id = StoredValue::new(first.id.to_string());
    let keys = fetch(move || id.get_value(), |id| async move { keys_api::list(&id).await });
    keys.poll(REFRESH);
    let name = first.name.clone();
    let tenant_name = StoredValue::new((tenant.id.to_string(), tenant.name.clone()));
    let unit = tenant.unit;
    let first = StoredValue::new(first);
    let close = Callback::new(move |()| open.set(None));
    let again = Callback::new(move |()| project.again());
    let changed = Callback::new(move |changed| project.data.set(changed));
    let dialog = move || {
        open.get().map(|which| match which {
            Open::CreateKey => {
                let on_created = Callback::new(move |key| {
                    open.set(None);
                    created.set(Some(key));
                });
                view! { <CreateKeyDialog project=id.get_value() unit=unit on_close=close on_created=on_created/> }
                    .into_any()
            }
            Open::ChangeBudget => {
                let (whose, about) = (Whose::Project(id.get_value()), first.get_value().name);
                view! { <QuotaChangeDialog whose=whose about=about unit=unit on_close=close on_changed=again/> }
                    .into_any()
            }
            Open::Change => {
                let project = first.get_value();
                view! { <ChangeProjectDialog project=project unit=unit on_close=close on_changed=changed/> }.into_any()
            }
        })
    };
    let overview = move || {
        browser::set_title(&name);
        let parent = tenant_name.get_value();
        view! {
            <Head tenant=parent.clone() project=first.get_value() open=open/>
            <div class="cols main-side">
                <div class="stack"><KeysCard tenant=parent.0 keys=keys on_create=opener(open, Open::CreateKey)/></div>
                <div class="stack">
                    <BudgetCard project=project first=first.get_value()/>
                    <LimitsCard project=project unit=unit/>
                </div>
            </div>
            {move || dialog()}
        }
    };
    live(move || match created.get() {
        None => overview().into_any(),
        Some(key) => {
            let done = Callback::new(move |()| {
                created.set(None); // the secret leaves the page's memory with it
                keys.again();
            });
            view! { <KeyCreated tenant=tenant_name.get_value() project=first.get_value() key=key on_done=done/> }
                .into_any()
        }
    })
}

/// The present use of the project's limits.
#[component]
fn LimitsCard(project: Fetch<Project>, unit: Unit) -> impl IntoView {
    let t = language();
    let uses = live(move || {
        let windows = project.data.read().as_ref().and_then(|project| project.windows.clone()).unwrap_or_default();
        view! { <LimitsUse windows=windows unit=unit/> }
    });
    view! { <Card id="limits-use" title=t.limits_in_use()>{uses}</Card> }
}

#[component]
fn Head(tenant: (String, String), project: Project, open: RwSignal<Option<Open>>) -> impl IntoView {
    let t = language();
    let session = expect_context::<Session>();
    let (tenant_id, tenant_name) = tenant;
    let id = project.id.to_string();
    let way = vec![
        Crumb::to(t.tenants(), "/tenants"),
        Crumb::to(tenant_name, format!("/tenants/{tenant_id}")),
        Crumb::to(t.projects(), format!("/tenants/{tenant_id}/projects")),
        Crumb::here(project.name.clone()),
    ];
    let has_budget = project.budget.is_some();
    let requests = format!("/requests?project_id={id}");
    let actions = live(move || {
        let requests = requests.clone();
        let budget = has_budget.then(
            || view! { <Button words=t.change_budget() icon="balance" on_press=opener(open, Open::ChangeBudget)/> },
        );
        let own = session.may_own().then(|| {
            view! {
                {budget}
                <Button words=t.change_project() on_press=opener(open, Open::Change)/>
                <Button words=t.new_key() icon="plus" class="primary" on_press=opener(open, Open::CreateKey)/>
            }
        });
        view! { <a class="btn" href=requests>{t.see_requests()}</a>{own} }
    });
    let facts = vec![("", view! { <Id id=id/> }.into_any())];
    view! { <PageHead way=way title=project.name actions=actions.into_any() facts=facts/> }
}
