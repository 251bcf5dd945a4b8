//! Pages of a list with cursors: forward by the API's cursor, back by the ones that led here.

use leptos::prelude::*;

use super::icon::Icon;
use crate::i18n::language;

/// The foot of a list.
#[component]
pub fn Pager(
    /// What is shown, in words.
    #[prop(into)]
    shown: Signal<String>,
    /// Rows a page.
    #[prop(into)]
    rows: Signal<u16>,
    /// Another number of rows.
    on_rows: Callback<u16>,
    /// The page before, where there is one.
    #[prop(into)]
    has_previous: Signal<bool>,
    /// Goes there.
    on_previous: Callback<()>,
    /// The page after, where there is one.
    #[prop(into)]
    has_next: Signal<bool>,
    /// Goes there.
    on_next: Callback<()>,
) -> impl IntoView {
    const SIZES: [u16; 3] = [10, 50, 200];
    let t = language();
    let size =
        move |size: u16| view! { <option value=size.to_string() selected=rows.get_untracked() == size>{size}</option> };
    let choose = move |event| {
        if let Ok(rows) = event_target_value(&event).parse() {
            on_rows.run(rows);
        }
    };
    view! {
        <nav class="pager" aria-label=t.pages()>
            <span>{move || shown.get()}</span>
            <span class="row">
                <label class="row">
                    <span>{t.rows()}</span>
                    <select class="input" aria-label=t.rows_a_page() on:change=choose>{SIZES.map(size).collect_view()}</select>
                </label>
                <button class="btn icon-only" type="button" aria-label=t.previous_page() disabled=move || !has_previous.get()
                    on:click=move |_| on_previous.run(())><Icon name="left"/></button>
                <button class="btn icon-only" type="button" aria-label=t.next_page() disabled=move || !has_next.get()
                    on:click=move |_| on_next.run(())><Icon name="right"/></button>
            </span>
        </nav>
    }
}
