//! The request log: filters and page are in the address.

mod filters;
mod table;

use leptos::prelude::*;

use crate::api::platform::Asked;
use crate::api::requests;
use crate::components::live::live;
use crate::components::page_head::PageHead;
use crate::fetch::fetch;
use crate::i18n::language;
use crate::pages::address::{Address, AddressPager};
use crate::pages::usage::Exports;

use filters::Filters;
use table::RequestTable;

/// What the list can be asked for, as the API and the address name it.
pub const FILTERS: [&str; 8] = ["tenant_id", "project_id", "key_id", "model", "outcome", "from", "to", "min_charge"];

/// The list of recorded requests.
#[component]
pub fn RequestsPage() -> impl IntoView {
    let t = language();
    let address = Address::of_page();
    let filters = Memo::new(move |_| -> Asked { FILTERS.map(|name| (name, address.get(name))).into() });
    let asked = Memo::new(move |_| {
        let mut asked = filters.get();
        asked.push(("limit", address.rows().to_string()));
        asked.push(("cursor", address.get("cursor")));
        asked
    });
    let page = fetch(move || asked.get(), |asked| async move { requests::list(&asked).await });
    let count = Signal::derive(move || page.data.read().as_ref().map_or(0, |page| page.items.len()));
    let next = Signal::derive(move || page.data.read().as_ref().and_then(|page| page.next_cursor.clone()));
    let files = live(move || view! { <Exports path="/requests/export" asked=filters.get()/> });
    view! {
        <PageHead title=t.requests() hint=t.requests_hint() actions=files/>
        <section class="card" aria-label=t.requests()>
            <Filters address=address failure=page.failure on_again=Callback::new(move |()| page.again())/>
            <RequestTable page=page address=address/>
            <AddressPager address=address count=count next=next/>
        </section>
    }
}
