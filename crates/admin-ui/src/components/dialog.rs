//! A real `<dialog>`: the browser keeps the focus inside, Escape closes it, the page behind rests.

use leptos::html;
use leptos::prelude::*;

use super::icon::Icon;
use crate::i18n::language;

/// A dialog that is open as long as it is on the page. `on_close` is told when the person wants it gone; whoever shows
/// it then takes it away.
#[component]
pub fn Dialog(
    /// The heading, which also names it.
    #[prop(into)]
    title: String,
    /// A line under the heading.
    #[prop(optional, into)]
    subtitle: String,
    /// The person wants it gone.
    on_close: Callback<()>,
    /// The form or whatever it holds.
    children: Children,
) -> impl IntoView {
    let node = NodeRef::<html::Dialog>::new();
    Effect::new(move |_| {
        if let Some(dialog) = node.get()
            && !dialog.open()
        {
            // Refused only for a dialog that is open or not in the page, and it is neither.
            let _ = dialog.show_modal();
        }
    });
    let cancel = move |event: web_sys::Event| {
        event.prevent_default(); // the owner decides; the element must not close by itself
        on_close.run(());
    };
    view! {
        <dialog class="dialog" node_ref=node aria-labelledby="dialog-title" on:cancel=cancel>
            <div class="dialog-head">
                <div>
                    <h2 id="dialog-title">{title}</h2>
                    {(!subtitle.is_empty()).then(|| view! { <p class="small muted">{subtitle}</p> })}
                </div>
                <button class="btn ghost icon-only" type="button" aria-label=language().close() on:click=move |_| on_close.run(())>
                    <Icon name="x"/>
                </button>
            </div>
            {children()}
        </dialog>
    }
}
