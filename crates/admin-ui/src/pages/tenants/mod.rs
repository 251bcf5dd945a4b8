//! All tenants: search, filter, sort and page are in the address; the quota bar of each row.

pub mod create;
mod row;
mod table;

use std::time::Duration;

use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_query_map};

use crate::api::tenants::{self, TenantQuery};
use crate::browser;
use crate::components::icon::Icon;
use crate::components::legend::QuotaLegend;
use crate::components::pager::Pager;
use crate::fetch::fetch;
use crate::i18n::language;
use crate::session::Session;

use create::CreateTenantDialog;
use table::TenantTable;

/// Nearest to dry first.
const SORT: &str = "remaining_percent";
const ROWS: u16 = 50;
const REFRESH: Duration = Duration::from_secs(10);

/// The list of tenants.
#[component]
pub fn TenantsPage() -> impl IntoView {
    let t = language();
    browser::set_title(t.tenants());
    let session = expect_context::<Session>();
    let address = Address::of_page();
    let query = address.query;
    let page = fetch(move || query.get(), |query| async move { tenants::list(&query).await });
    page.poll(REFRESH);
    let creating = RwSignal::new(false);
    let create = move || {
        session.may_operate().then(|| {
            view! { <button class="btn primary" type="button" on:click=move |_| creating.set(true)><Icon name="plus"/>{t.new_tenant()}</button> }
        })
    };
    let shown = Signal::derive(move || {
        let count = page.data.read().as_ref().map_or(0, |page| page.items.len());
        let before = address.before.read().len() * usize::from(query.read().limit);
        let more = page.data.read().as_ref().is_some_and(|page| page.next_cursor.is_some());
        if count == 0 { String::new() } else { t.rows_shown(before + 1, before + count, more) }
    });
    let next = move || page.data.read().as_ref().and_then(|page| page.next_cursor.clone());
    view! {
        <header class="page-head">
            <div class="page-title"><h1>{t.tenants()}</h1><div class="actions">{create}</div></div>
            <p class="small muted">{t.nearest_to_dry()}</p>
        </header>
        <section class="card" aria-label=t.tenants()>
            <Toolbar address=address/>
            <TenantTable page=page query=query on_sort=Callback::new(move |sort: String| address.set("sort", &sort))
                on_clear=Callback::new(move |()| address.clear()) on_create=Callback::new(move |()| creating.set(true))/>
            <div class="card-foot"><QuotaLegend/></div>
            <Pager shown=shown rows=Signal::derive(move || query.read().limit)
                on_rows=Callback::new(move |rows: u16| address.set("limit", &rows.to_string()))
                has_previous=Signal::derive(move || !query.read().cursor.is_empty())
                on_previous=Callback::new(move |()| address.back())
                has_next=Signal::derive(move || next().is_some())
                on_next=Callback::new(move |()| if let Some(cursor) = next() { address.forward(&cursor) })/>
        </section>
        {move || creating.get().then(|| view! { <CreateTenantDialog on_close=Callback::new(move |()| creating.set(false))/> })}
    }
}

/// Search, filter, sort and page as the address has them.
#[derive(Clone, Copy)]
struct Address {
    query: Memo<TenantQuery>,
    /// Cursors of the pages that led to this one, as far as this visit knows them.
    before: RwSignal<Vec<String>>,
    go: Callback<(Vec<(&'static str, String)>, bool)>,
}

impl Address {
    fn of_page() -> Self {
        let map = use_query_map();
        let query = Memo::new(move |_| {
            let map = map.read();
            let of = |name: &str| map.get(name).unwrap_or_default();
            TenantQuery {
                q: of("q"),
                sort: map.get("sort").unwrap_or_else(|| SORT.to_owned()),
                status: of("status"),
                limit: of("limit").parse().ok().filter(|rows| (1..=200).contains(rows)).unwrap_or(ROWS),
                cursor: of("cursor"),
            }
        });
        let navigate = use_navigate();
        let go = Callback::new(move |(changes, replace): (Vec<(&'static str, String)>, bool)| {
            let mut next = map.get_untracked();
            for (name, value) in changes {
                next.remove(name);
                if !value.is_empty() {
                    // The map takes a value as it stands in an address.
                    next.insert(name, js_sys::encode_uri_component(&value).into());
                }
            }
            let options = NavigateOptions { replace, scroll: false, ..NavigateOptions::default() };
            navigate(&format!("/tenants{}", next.to_query_string()), options);
        });
        Self { query, before: RwSignal::new(Vec::new()), go }
    }

    /// Another search, filter or sort begins at its first page. Typing does not fill the browser's history.
    fn set(self, name: &'static str, value: &str) {
        self.before.set(Vec::new());
        self.go.run((vec![(name, value.to_owned()), ("cursor", String::new())], name == "q"));
    }

    fn clear(self) {
        self.before.set(Vec::new());
        self.go.run((vec![("q", String::new()), ("status", String::new()), ("cursor", String::new())], false));
    }

    fn forward(self, cursor: &str) {
        self.before.update(|before| before.push(self.query.get_untracked().cursor));
        self.go.run((vec![("cursor", cursor.to_owned())], false));
    }

    /// The page before, or the first one where this visit began in the middle.
    fn back(self) {
        let cursor = self.before.try_update(Vec::pop).flatten().unwrap_or_default();
        self.go.run((vec![("cursor", cursor)], false));
    }
}

/// Search and filter.
#[component]
fn Toolbar(address: Address) -> impl IntoView {
    const PAUSE: Duration = Duration::from_millis(250);
    let t = language();
    let typed = RwSignal::new(address.query.get_untracked().q);
    // The address follows the typing after a pause; the latest text wins.
    let mut search = debounce(PAUSE, move |text: String| address.set("q", text.trim()));
    let input = move |event| {
        let text = event_target_value(&event);
        typed.set(text.clone());
        search(text);
    };
    // Cleared or gone back to from elsewhere.
    Effect::new(move |_| {
        let q = address.query.read().q.clone();
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
        view! { <option value=value selected=move || address.query.read().status == key>{words}</option> }
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
