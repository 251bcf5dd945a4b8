//! A column head that sorts.

use leptos::prelude::*;

/// A column head: a click sorts by it, another turns the order.
#[component]
pub fn SortHead(
    /// Its words.
    words: &'static str,
    /// The sort key without a sign.
    key: &'static str,
    /// The order on the first click: true for the largest first.
    #[prop(optional)]
    descending_first: bool,
    /// The present sort, `-used` for the largest first.
    #[prop(into)]
    sort: Signal<String>,
    /// A sort was asked for.
    on_sort: Callback<String>,
    /// More classes.
    #[prop(optional)]
    class: &'static str,
) -> impl IntoView {
    let order = Memo::new(move |_| match sort.read().strip_prefix('-') {
        Some(rest) if rest == key => Some("descending"),
        None if *sort.read() == key => Some("ascending"),
        _ => None,
    });
    let click = move |_| {
        let down = match order.get_untracked() {
            None => descending_first,
            Some(now) => now == "ascending",
        };
        on_sort.run(if down { format!("-{key}") } else { key.to_owned() });
    };
    view! {
        <th role="columnheader" scope="col" class=class aria-sort=move || order.get()>
            <button class="sort" type="button" on:click=click>
                {words}
                <svg class=move || if order.get() == Some("ascending") { "icon up" } else { "icon" } aria-hidden="true"><use href="#i-sort"></use></svg>
            </button>
        </th>
    }
}
