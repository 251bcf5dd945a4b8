//! The requests of a page.

use api_types::Page;
use api_types::request::Request;
use leptos::prelude::*;

use super::FILTERS;
use crate::components::states::Empty;
use crate::components::table::{Column, Row, Table, mono, named, text};
use crate::components::written;
use crate::fetch::Fetch;
use crate::format;
use crate::i18n::{Language, language};
use crate::pages::address::Address;
use crate::pages::listed::listed;
use crate::pages::request::{outcome_badge, timing, usage_of};

/// The table in all of its states.
#[component]
pub fn RequestTable(
    /// What was read.
    page: Fetch<Page<Request>>,
    /// What was asked for.
    address: Address,
) -> impl IntoView {
    let t = language();
    let table = move |items: Vec<Request>| {
        let columns = vec![
            Column::name(t.request()),
            Column::text(t.started()),
            Column::text(t.model()),
            Column::number(t.tokens()),
            Column::number(t.took()),
            Column::number(t.charge()),
            Column::state(t.outcome()),
        ];
        let rows = items.into_iter().map(|request| row(t, request)).collect();
        view! { <Table caption=t.requests() columns=columns rows=rows class="c3"/> }.into_any()
    };
    let empty = move || {
        if FILTERS.iter().any(|name| !address.get(name).is_empty()) {
            return view! {
                <Empty icon="search" title=t.nothing_found() hint=t.no_match()>
                    <button class="btn" type="button" on:click=move |_| address.clear(&FILTERS)>{t.clear_filters()}</button>
                </Empty>
            }
            .into_any();
        }
        view! { <Empty icon="requests" title=t.no_requests() hint=t.no_requests_hint()>""</Empty> }.into_any()
    };
    listed(page, 8, table, empty)
}

fn row(t: Language, request: Request) -> Row {
    let id = request.request_id.to_string();
    let took = timing::of(&request).took_ms.map(format::seconds).unwrap_or_default();
    let started = request.started_at.unwrap_or(request.recorded_at);
    let tokens = usage_of(&request).map(|usage| format::count(usage.total_tokens())).unwrap_or_default();
    let under = request.client_request_id.clone().unwrap_or_default();
    let badge = outcome_badge(t, &request);
    Row::new(vec![
        named(format::short_id(&id), Some(format!("/requests/{id}")), mono(under)),
        text(written::moment(started, t, None)),
        mono(request.model),
        text(tokens),
        text(took),
        text(format::exact(request.charge.as_str())),
        badge,
    ])
}
