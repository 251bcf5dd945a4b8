//! Who changed what, from where: filters and page are in the address.

mod filters;

use api_types::audit::AuditEntry;
use leptos::prelude::*;
use serde_json::Value;

use crate::api::platform::{self, Asked};
use crate::components::live::live;
use crate::components::page_head::PageHead;
use crate::components::states::Empty;
use crate::components::table::{Column, Row, Table, mono, named, text};
use crate::components::written;
use crate::fetch::fetch;
use crate::format;
use crate::i18n::{Language, language};
use crate::pages::address::{Address, AddressPager};
use crate::pages::listed::listed;
use crate::pages::usage::Exports;

use filters::Filters;

/// What the list can be asked for, as the API and the address name it.
pub const FILTERS: [&str; 6] = ["actor", "action", "target", "tenant_id", "from", "to"];

/// The page.
#[component]
pub fn AuditPage() -> impl IntoView {
    let t = language();
    let address = Address::of_page();
    let filters = Memo::new(move |_| -> Asked { FILTERS.map(|name| (name, address.get(name))).into() });
    let asked = Memo::new(move |_| {
        let mut asked = filters.get();
        asked.push(("limit", address.rows().to_string()));
        asked.push(("cursor", address.get("cursor")));
        asked
    });
    let page = fetch(move || asked.get(), |asked| async move { platform::audit(&asked).await });
    let table = move |items: Vec<AuditEntry>| {
        let columns = vec![
            Column::name(t.what()),
            Column::text(t.when()),
            Column::text(t.who()),
            Column::text(t.from_where()),
            Column::wide(t.change()),
        ];
        let rows = items.into_iter().map(|entry| row(t, entry)).collect();
        view! { <Table caption=t.audit() columns=columns rows=rows/> }.into_any()
    };
    let empty =
        move || view! { <Empty icon="audit" title=t.nothing_found() hint=t.no_audit_hint()>""</Empty> }.into_any();
    let count = Signal::derive(move || page.data.read().as_ref().map_or(0, |page| page.items.len()));
    let next = Signal::derive(move || page.data.read().as_ref().and_then(|page| page.next_cursor.clone()));
    let files = live(move || view! { <Exports path="/audit/export" asked=filters.get()/> });
    view! {
        <PageHead title=t.audit() hint=t.audit_hint() actions=files/>
        <section class="card" aria-label=t.audit()>
            <Filters address=address failure=page.failure/>
            {listed(page, 8, table, empty)}
            <AddressPager address=address count=count next=next/>
        </section>
    }
}

fn row(t: Language, entry: AuditEntry) -> Row {
    let changed = changed(entry.before.as_ref(), entry.after.as_ref());
    let whole = (entry.before.is_some() || entry.after.is_some()).then(|| {
        let part = |words: &'static str, value: Option<Value>| {
            value.map(|value| {
                let pretty = serde_json::to_string_pretty(&value).unwrap_or_default();
                view! { <div><p class="tiny muted">{words}</p><pre class="json" tabindex="0" role="group" aria-label=words>{pretty}</pre></div> }
            })
        };
        view! {
            <details>
                <summary>{changed}</summary>
                <div class="beside">{part(t.before(), entry.before.clone())}{part(t.after(), entry.after.clone())}</div>
            </details>
        }
    });
    let from = entry.address.unwrap_or_default();
    Row::new(vec![
        named(entry.action, None, mono(format::short_id(&entry.target))),
        text(written::moment(entry.at, t, None)),
        mono(format::short_id(&entry.actor)),
        mono(from),
        whole.into_any(),
    ])
}

/// The names of fields that differ; a few, for the line one reads first.
fn changed(before: Option<&Value>, after: Option<&Value>) -> String {
    const MOST: usize = 4;
    let empty = serde_json::Map::new();
    let fields = |value: Option<&Value>| value.and_then(Value::as_object).cloned().unwrap_or_else(|| empty.clone());
    let (before, after) = (fields(before), fields(after));
    let names = before.keys().chain(after.keys().filter(|name| !before.contains_key(*name)));
    let mut differ: Vec<&str> =
        names.filter(|name| before.get(*name) != after.get(*name)).map(String::as_str).collect();
    let more = differ.len() > MOST;
    differ.truncate(MOST);
    if differ.is_empty() {
        return "…".to_owned();
    }
    format!("{}{}", differ.join(", "), if more { ", …" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::changed;
    use serde_json::json;

    #[test]
    fn what_differs_is_named() {
        assert_eq!(changed(Some(&json!({"a": 1, "b": 2})), Some(&json!({"a": 1, "b": 3, "c": 4}))), "b, c");
        assert_eq!(changed(None, Some(&json!({"a": 1, "b": 1, "c": 1, "d": 1, "e": 1}))), "a, b, c, d, …");
        assert_eq!(changed(None, None), "…");
    }
}
