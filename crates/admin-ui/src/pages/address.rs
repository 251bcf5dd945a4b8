//! What a list is asked for, in the address: filters, order, page. A reload or a link brings back the same.

use leptos::prelude::*;

use crate::components::pager::Pager;
use crate::i18n::language;
use crate::router::Router;

/// Rows a page unless the address says otherwise.
const ROWS: u16 = 50;

/// The parameters of the present address.
#[derive(Debug, Clone, Copy)]
pub struct Address {
    router: Router,
    /// Cursors of the pages that led to this one, as far as this visit knows them.
    before: RwSignal<Vec<String>>,
}

impl Address {
    /// Of the page one is on.
    #[must_use]
    pub fn of_page() -> Self {
        Self { router: expect_context::<Router>(), before: RwSignal::new(Vec::new()) }
    }

    /// A parameter; empty where there is none. Tracks.
    #[must_use]
    pub fn get(self, name: &str) -> String {
        self.router.parameter(name)
    }

    /// Rows a page. Tracks.
    #[must_use]
    pub fn rows(self) -> u16 {
        self.get("limit").parse().ok().filter(|rows| (1..=200).contains(rows)).unwrap_or(ROWS)
    }

    /// Other filters or another order begin at their first page.
    pub fn set(self, name: &'static str, value: &str) {
        self.change(vec![(name, value.to_owned())], false);
    }

    /// As [`Address::set`] while someone types: the browser's history is not filled.
    pub fn set_typed(self, name: &'static str, value: &str) {
        self.change(vec![(name, value.to_owned())], true);
    }

    /// Several at once.
    pub fn change(self, mut changes: Vec<(&'static str, String)>, replace: bool) {
        self.before.set(Vec::new());
        changes.push(("cursor", String::new()));
        self.router.ask(&changes, replace);
    }

    /// Removes parameters.
    pub fn clear(self, names: &[&'static str]) {
        self.change(names.iter().map(|name| (*name, String::new())).collect(), false);
    }

    fn forward(self, cursor: String) {
        let now = untrack(|| self.get("cursor"));
        self.before.update(|before| before.push(now));
        self.router.ask(&[("cursor", cursor)], false);
    }

    /// The page before, or the first one where this visit began in the middle.
    fn back(self) {
        let cursor = self.before.try_update(Vec::pop).flatten().unwrap_or_default();
        self.router.ask(&[("cursor", cursor)], false);
    }
}

/// The foot of a list whose page is in the address.
#[component]
pub fn AddressPager(
    /// The address.
    address: Address,
    /// How many rows are shown.
    count: Signal<usize>,
    /// The API's cursor of the page after.
    next: Signal<Option<String>>,
) -> impl IntoView {
    let t = language();
    let shown = Signal::derive(move || {
        let (count, before) = (count.get(), address.before.read().len() * usize::from(address.rows()));
        if count == 0 { String::new() } else { t.rows_shown(before + 1, before + count, next.get().is_some()) }
    });
    view! {
        <Pager shown=shown rows=Signal::derive(move || address.rows())
            on_rows=Callback::new(move |rows: u16| address.set("limit", &rows.to_string()))
            has_previous=Signal::derive(move || !address.get("cursor").is_empty())
            on_previous=Callback::new(move |()| address.back())
            has_next=Signal::derive(move || next.get().is_some())
            on_next=Callback::new(move |()| if let Some(cursor) = next.get_untracked() { address.forward(cursor) })/>
    }
}
