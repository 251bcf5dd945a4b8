//! Buttons with words, and an icon where it helps.

use leptos::prelude::*;

use super::icon::Icon;

/// A button.
#[component]
pub fn Button(
    /// Its words.
    #[prop(into)]
    words: String,
    /// `primary`, `danger`, `ghost`, `sm`, or nothing.
    #[prop(default = "")]
    class: &'static str,
    /// Before the words.
    #[prop(optional)]
    icon: Option<&'static str>,
    /// Names it for screen readers where the words alone don't, in a row of a table.
    #[prop(optional, into)]
    label: Option<String>,
    /// It was pressed.
    on_press: Callback<()>,
) -> impl IntoView {
    view! {
        <button class=format!("btn {class}") type="button" aria-label=label on:click=move |_| on_press.run(())>
            {icon.map(|icon| view! { <Icon name=icon/> })}
            {words}
        </button>
    }
}

/// A button that opens something, by setting a signal.
pub fn opener<T: Clone + Send + Sync + 'static>(open: RwSignal<Option<T>>, what: T) -> Callback<()> {
    Callback::new(move |()| open.set(Some(what.clone())))
}
