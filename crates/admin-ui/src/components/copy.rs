//! Copying to the clipboard, saying whether it worked.

use leptos::prelude::*;
use leptos::task::spawn_local;

use super::icon::Icon;
use super::toasts::{Toast, Toasts};
use crate::browser;
use crate::format::short_id;
use crate::i18n::language;

/// A button that copies `text`; without a caption it is an icon named `label`.
#[component]
pub fn CopyButton(
    /// What is copied.
    #[prop(into)]
    text: Signal<String>,
    /// Names the button for those who can't see the icon.
    #[prop(into)]
    label: String,
    /// Words on the button.
    #[prop(optional, into)]
    caption: Option<String>,
    /// More classes.
    #[prop(default = "ghost sm")]
    class: &'static str,
) -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let copied = RwSignal::new(false);
    let copy = move |_| {
        spawn_local(async move {
            if browser::copy(&text.get_untracked()).await {
                let _ = copied.try_set(true); // the button may be gone by now
                let forget = move || {
                    let _ = copied.try_set(false);
                };
                set_timeout(forget, std::time::Duration::from_secs(2));
            } else {
                toasts.show(Toast::bad(t.copy_refused().to_owned(), None));
            }
        });
    };
    let icon = move || {
        if copied.get() {
            view! { <Icon name="check"/> }
        } else {
            view! { <Icon name="copy"/> }
        }
    };
    let shape = if caption.is_some() { "" } else { " icon-only" };
    let has_caption = caption.is_some();
    let words = move || if copied.get() { t.copied().to_owned() } else { caption.clone().unwrap_or_default() };
    view! {
        <button class=format!("btn {class}{shape}") type="button" aria-label=(!has_caption).then_some(label) on:click=copy>
            {icon}
            {has_caption.then_some(words)}
            <span class="vh" role="status">{move || if copied.get() && !has_caption { t.copied() } else { "" }}</span>
        </button>
    }
}

/// An id with a button that copies it.
#[component]
pub fn Id(
    /// The whole id.
    #[prop(into)]
    id: String,
    /// Cut in the middle.
    #[prop(optional)]
    cut: bool,
) -> impl IntoView {
    let label = language().copy_id(&id);
    let shown = if cut { short_id(&id) } else { id.clone() };
    view! { <span class="id"><span>{shown}</span><CopyButton text=id label=label/></span> }
}
