//! A key: its numbers, its limits with their present use, and what can be done about it.

mod asks;
mod change;

use std::sync::Arc;
use std::time::Duration;

use api_types::key::{Key, KeyStatus};
use api_types::project::Project;
use api_types::tenant::Tenant;
use domain::Unit;
use leptos::prelude::*;

use crate::api::quota_changes::Whose;
use crate::api::{keys, projects, tenants};
use crate::components::badge::{Badge, Tone};
use crate::components::button::{Button, opener};
use crate::components::card::Card;
use crate::components::copy::Id;
use crate::components::crumbs::Crumb;
use crate::components::kv::Kv;
use crate::components::limits_use::LimitsUse;
use crate::components::live::live;
use crate::components::page_head::PageHead;
use crate::components::states::{Failed, Loading};
use crate::components::table::{mono, text};
use crate::components::written;
use crate::fetch::{Fetch, fetch};
use crate::i18n::{Language, language};
use crate::pages::project::quota::{Now, NumbersCard};
use crate::pages::quota_change::dialog::QuotaChangeDialog;
use crate::pages::rotate::{RotateDialog, Whose as Secret};
use crate::place;
use crate::session::Session;

use asks::{DeleteKeyDialog, StatusDialog};
use change::ChangeKeyDialog;

const LIVE: Duration = Duration::from_secs(2);

/// The dialog that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Change,
    ChangeBudget,
    SetEnabled(bool),
    Rotate,
    Delete,
}

/// The page of one key.
#[component]
pub fn KeyPage() -> impl IntoView {
    let (tenant_id, project_id, key_id) =
        (place::id_after("tenants"), place::id_after("projects"), place::id_after("keys"));
    let tenant = fetch(move || tenant_id.get(), |id| async move { tenants::one(&id).await });
    let project = fetch(move || project_id.get(), |id| async move { projects::one(&id).await });
    let key = fetch(move || key_id.get(), |id| async move { keys::one(&id).await });
    key.poll(LIVE);
    // The numbers move; only another key or a changed one builds the page anew.
    let known = Memo::new(move |_| Some((tenant.data.get()?, project.data.get()?, Settled(key.data.get()?))));
    let open = RwSignal::new(None::<Open>);
    let shown = live(move || match known.get() {
        Some((tenant, project, Settled(first))) => {
            view! { <Loaded tenant=tenant project=project first=first key_=key open=open/> }.into_any()
        }
        None => {
            let failure = tenant.failure.get().or_else(|| project.failure.get()).or_else(|| key.failure.get());
            let again = Callback::new(move |()| {
                tenant.again();
                project.again();
                key.again();
            });
            let inside = match failure {
                Some(failure) => view! { <Failed failure=failure on_again=again/> }.into_any(),
                None => view! { <Loading rows=6/> }.into_any(),
            };
            view! { <section class="card">{inside}</section> }.into_any()
        }
    });
    // Beside the page and not in it: a new secret is shown once, and must not go when the key's version changes by it.
    let dialogs = live(move || {
        let which = open.get()?;
        let (tenant, entry) = (tenant.data.read_untracked()?, key.data.read_untracked()?);
        let back = format!("/tenants/{}/projects/{}", tenant.id, entry.project_id);
        Some(dialog(which, Arc::unwrap_or_clone(entry), back, tenant.unit, open, key))
    });
    view! { {shown}{dialogs} }
}

/// A key, the same as another while only its numbers differ.
#[derive(Clone)]
struct Settled(Key);

impl PartialEq for Settled {
    fn eq(&self, other: &Self) -> bool {
        (self.0.id, self.0.version, self.0.status) == (other.0.id, other.0.version, other.0.status)
    }
}

#[component]
fn Loaded(
    tenant: Tenant,
    project: Project,
    first: Key,
    key_: Fetch<Key>,
    open: RwSignal<Option<Open>>,
) -> impl IntoView {
    let t = language();
    let unit = tenant.unit;
    let start = first.clone();
    let now: Now = Arc::new(move || {
        let key = key_.data.get().unwrap_or_else(|| start.clone());
        (key.name, key.budget, key.quota)
    });
    let uses = live(move || {
        let windows = key_.data.read().as_ref().and_then(|key| key.windows.clone()).unwrap_or_default();
        view! { <LimitsUse windows=windows unit=unit/> }
    });
    view! {
        <Head tenant=tenant project=project entry=first.clone() open=open/>
        <div class="cols main-side">
            <div class="stack"><Card id="limits-use" title=t.limits_in_use()>{uses}</Card><FactsCard entry=first/></div>
            <div class="stack"><NumbersCard now=now mark="key"/></div>
        </div>
    }
}

fn dialog(
    which: Open,
    entry: Key,
    back: String,
    unit: Unit,
    open: RwSignal<Option<Open>>,
    fetched: Fetch<Key>,
) -> AnyView {
    let close = Callback::new(move |()| open.set(None));
    let again = Callback::new(move |()| fetched.again());
    let changed = Callback::new(move |key| fetched.data.set(key));
    match which {
        Open::Change => view! { <ChangeKeyDialog entry=entry unit=unit on_close=close on_changed=changed/> }.into_any(),
        Open::ChangeBudget => {
            let whose = Whose::Key(entry.id.to_string());
            view! { <QuotaChangeDialog whose=whose about=entry.name unit=unit on_close=close on_changed=again/> }
                .into_any()
        }
        Open::SetEnabled(enabled) => {
            view! { <StatusDialog entry=entry enabled=enabled on_close=close on_changed=changed/> }.into_any()
        }
        Open::Rotate => {
            let (whose, id) = (Secret::Key, entry.id.to_string());
            view! { <RotateDialog whose=whose id=id about=entry.name on_close=close on_done=again/> }.into_any()
        }
        Open::Delete => view! { <DeleteKeyDialog entry=entry back=back on_close=close/> }.into_any(),
    }
}

#[component]
fn Head(tenant: Tenant, project: Project, entry: Key, open: RwSignal<Option<Open>>) -> impl IntoView {
    let t = language();
    let session = expect_context::<Session>();
    let at_tenant = format!("/tenants/{}", tenant.id);
    let way = vec![
        Crumb::to(t.tenants(), "/tenants"),
        Crumb::to(tenant.name, at_tenant.clone()),
        Crumb::to(project.name, format!("{at_tenant}/projects/{}", project.id)),
        Crumb::here(entry.name.clone()),
    ];
    let is_active = entry.status == KeyStatus::Active;
    let badge = if is_active {
        view! { <Badge tone=Tone::Ok text=t.active()/> }.into_any()
    } else {
        view! { <Badge tone=Tone::Held text=t.disabled()/> }.into_any()
    };
    let has_budget = entry.budget.is_some();
    let requests = format!("/requests?key_id={}", entry.id);
    let actions = live(move || {
        let requests = requests.clone();
        let own = session.may_own().then(|| {
            let budget = has_budget.then(|| {
                view! { <Button words=t.change_budget() icon="balance" on_press=opener(open, Open::ChangeBudget)/> }
            });
            let rotate =
                is_active.then(|| view! { <Button words=t.rotate_secret() on_press=opener(open, Open::Rotate)/> });
            let switch = if is_active { t.disable_key() } else { t.enable_key() };
            view! {
                {budget}
                <Button words=t.change_key() on_press=opener(open, Open::Change)/>
                {rotate}
                <Button words=switch on_press=opener(open, Open::SetEnabled(!is_active))/>
                <Button words=t.delete_key() class="danger" on_press=opener(open, Open::Delete)/>
            }
        });
        view! { <a class="btn" href=requests>{t.see_requests()}</a>{own} }
    });
    let prefix = format!("{}…", entry.prefix);
    let facts = vec![("", view! { <Id id=entry.id.to_string()/> }.into_any()), (t.prefix(), mono(prefix))];
    view! { <PageHead way=way title=entry.name badge=badge actions=actions.into_any() facts=facts/> }
}

#[component]
fn FactsCard(entry: Key) -> impl IntoView {
    let t = language();
    view! { <Card id="facts" title=t.facts()><div class="card-body"><Kv rows=facts(t, entry)/></div></Card> }
}

fn facts(t: Language, key: Key) -> Vec<(&'static str, AnyView)> {
    let list =
        |list: Option<Vec<String>>, all: &'static str| list.map_or_else(|| text(all), |list| mono(list.join(", ")));
    let moment = |at: Option<api_types::Timestamp>| {
        text(at.map_or_else(|| t.never().to_owned(), |at| written::moment(at, t, None)))
    };
    vec![
        (t.models(), list(key.models, t.every_model())),
        (t.addresses(), list(key.ip_ranges, t.everywhere())),
        (t.expires(), moment(key.expires_at)),
        (t.last_used(), moment(key.last_used_at)),
        (t.created(), moment(Some(key.created_at))),
    ]
}
