//! All tenants: search, filter, sort and page are in the address; the quota bar of each row.

pub mod create;
mod row;
mod table;

use std::time::Duration;

use leptos::prelude::*;

use crate::api::tenants::{self, TenantQuery};
use crate::browser;
use crate::components::icon::Icon;
use crate::components::legend::QuotaLegend;
use crate::fetch::fetch;
use crate::i18n::language;
use crate::pages::address::{Address, AddressPager};
use crate::session::Session;

use create::CreateTenantDialog;
use table::TenantTable;

/// Nearest to dry first.
const SORT: &str = "remaining_percent";
const REFRESH: Duration = Duration::from_secs(10);

/// The list of tenants.
#[component]
pub fn TenantsPage() -> impl IntoView {
    let t = language();
    browser::set_title(t.tenants());
    let session = expect_context::<Session>();
    let address = Address::of_page();
    let query = Memo::new(move |_| {
        let sort = address.get("sort");
        TenantQuery {
            q: address.get("q"),
            sort: if sort.is_empty() { SORT.to_owned() } else { sort },
            status: address.get("status"),
            limit: address.rows(),
            cursor: address.get("cursor"),
        }
    });
    let page = fetch(move || query.get(), |query| async move { tenants::list(&query).await });
    page.poll(REFRESH);
    let creating = RwSignal::new(false);
    let create = move || {
        session.may_operate().then(|| {
            view! { <button class="btn primary" type="button" on:click=move |_| creating.set(true)><Icon name="plus"/>{t.new_tenant()}</button> }
        })
    };
    let count = Signal::derive(move || page.data.read().as_ref().map_or(0, |page| page.items.len()));
    let next = Signal::derive(move || page.data.read().as_ref().and_then(|page| page.next_cursor.clone()));
    view! {
        <header class="page-head">
            <div class="page-title"><h1>{t.tenants()}</h1><div class="actions">{create}</div></div>
            <p class="small muted">{t.nearest_to_dry()}</p>
        </header>
        <section class="card" aria-label=t.tenants()>
            <Toolbar address=address/>
            <TenantTable page=page query=query on_sort=Callback::new(move |sort: String| address.set("sort", &sort))
                on_clear=Callback::new(move |()| address.clear(&["q", "status"])) on_create=Callback::new(move |()| creating.set(true))/>
            <div class="card-foot"><QuotaLegend/></div>
            <AddressPager address=address count=count next=next/>
        </section>
        {move || creating.get().then(|| view! { <CreateTenantDialog on_close=Callback::new(move |()| creating.set(false))/> })}
    }
}

/// Search and filter.
#[component]
fn Toolbar(address: Address) -> impl IntoView {
    const PAUSE: Duration = Duration::from_millis(250);
    let t = language();
    let typed = RwSignal::new(untrack(move || address.get("q")));
    // The address follows the typing after a pause; the latest text wins.
    let mut search = debounce(PAUSE, move |text: String| address.set_typed("q", text.trim()));
    let input = move |event| {
        let text = event_target_value(&event);
        typed.set(text.clone());
        search(text);
    };
    // Cleared or gone back to from elsewhere.
    Effect::new(move |_| {
        let q = address.get("q");
        if typed.get_untracked().trim() != q {
            typed.set(q);
        }
    });
    let states = [
        (String::new(), t.every_state()),
        ("active".to_owned(), t.active()),
        ("suspended".to_owned(), t.suspended()),
        ("closed".to_owned(), t.closed()),
    ];
    let state = move |(key, words): (String, &'static str)| {
        let value = key.clone();
        view! { <option value=value selected=move || address.get("status") == key>{words}</option> }
    };
    view! {
        <div class="toolbar">
            <form class="search" role="search" aria-label=t.tenants() on:submit=move |event| event.prevent_default()>
                <Icon name="search"/>
                <input type="search" name="q" aria-label=t.search_tenants() placeholder=t.search_tenants() prop:value=typed on:input=input/>
            </form>
            <select class="input filter-select" aria-label=t.state_filter()
                on:change=move |event| address.set("status", &event_target_value(&event))>
                {states.map(state).collect_view()}
            </select>
        </div>
    }
}
