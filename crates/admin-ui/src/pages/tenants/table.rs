//! The table of tenants in all of its states.

use api_types::Page;
use api_types::tenant::Tenant;
use leptos::prelude::*;

use super::row::TenantRow;
use crate::api::tenants::TenantQuery;
use crate::components::badge::Tone;
use crate::components::icon::Icon;
use crate::components::live::live;
use crate::components::notice::Notice;
use crate::components::sort_head::SortHead;
use crate::components::states::{Empty, Failed, Loading};
use crate::fetch::Fetch;
use crate::i18n::language;

/// The tenants of a page, or why there are none.
#[component]
pub fn TenantTable(
    /// What was read.
    page: Fetch<Page<Tenant>>,
    /// What was asked for.
    query: Memo<TenantQuery>,
    /// Another order is wanted.
    on_sort: Callback<String>,
    /// Everything is wanted.
    on_clear: Callback<()>,
    /// A tenant is to be created.
    on_create: Callback<()>,
) -> impl IntoView {
    let again = Callback::new(move |()| page.again());
    live(move || match (page.data.get(), page.failure.get()) {
        (Some(data), failure) if !data.items.is_empty() => {
            view! { {failure.map(|_| older())}<Rows items=data.items query=query on_sort=on_sort/> }.into_any()
        }
        (_, Some(failure)) => view! { <Failed failure=failure on_again=again/> }.into_any(),
        (Some(_), None) => nothing(&query.read(), on_clear, on_create),
        (None, None) => view! { <Loading rows=8/> }.into_any(),
    })
}

fn older() -> AnyView {
    view! { <div class="card-foot"><Notice tone=Tone::Warn>{language().older_data()}</Notice></div> }.into_any()
}

fn nothing(query: &TenantQuery, on_clear: Callback<()>, on_create: Callback<()>) -> AnyView {
    let t = language();
    if query.q.is_empty() && query.status.is_empty() {
        return view! {
            <Empty icon="tenants" title=t.no_tenants() hint=t.no_tenants_hint()>
                <button class="btn" type="button" on:click=move |_| on_create.run(())><Icon name="plus"/>{t.new_tenant()}</button>
            </Empty>
        }
        .into_any();
    }
    view! {
        <Empty icon="search" title=t.nothing_found() hint=t.nothing_found_hint()>
            <button class="btn" type="button" on:click=move |_| on_clear.run(())>{t.clear_search()}</button>
        </Empty>
    }
    .into_any()
}

#[component]
fn Rows(items: Vec<Tenant>, query: Memo<TenantQuery>, on_sort: Callback<String>) -> impl IntoView {
    let t = language();
    let sort = Signal::derive(move || query.read().sort.clone());
    view! {
        <div class="table-wrap">
            <table role="table" class="table cards">
                <caption class="vh">{t.tenants()}</caption>
                <thead role="rowgroup">
                    <tr role="row">
                        <th role="columnheader" scope="col">{t.tenant()}</th>
                        <th role="columnheader" scope="col">{t.state()}</th>
                        <SortHead words=t.quota() key="remaining_percent" sort=sort on_sort=on_sort/>
                        <th role="columnheader" scope="col" class="r">{t.total()}</th>
                        <SortHead words=t.used() key="used" descending_first=true class="r" sort=sort on_sort=on_sort/>
                        <th role="columnheader" scope="col" class="r">{t.in_flight()}</th>
                        <th role="columnheader" scope="col" class="r">{t.remaining()}</th>
                        <th role="columnheader" scope="col" class="r p3">{t.last_used()}</th>
                    </tr>
                </thead>
                <tbody role="rowgroup">{items.into_iter().map(|tenant| view! { <TenantRow tenant=tenant/> }).collect_view()}</tbody>
            </table>
        </div>
    }
}
