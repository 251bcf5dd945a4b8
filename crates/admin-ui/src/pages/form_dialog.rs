//! A form in a dialog: what it is about, its fields, the way out and the one thing it does.

use leptos::prelude::*;

use super::form::Form;
use crate::components::dialog::Dialog;
use crate::components::notice::FormFailure;
use crate::i18n::language;

/// A form in a dialog.
#[component]
pub fn FormDialog(
    /// The heading.
    #[prop(into)]
    title: String,
    /// A line under it.
    #[prop(optional, into)]
    subtitle: String,
    /// Its state.
    form: Form,
    /// What the button says.
    #[prop(into)]
    action: Signal<String>,
    /// It takes something away.
    #[prop(optional)]
    danger: bool,
    /// The person wants it done.
    on_submit: Callback<()>,
    /// It is unwanted.
    on_close: Callback<()>,
    /// The fields.
    children: Children,
) -> impl IntoView {
    let t = language();
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        on_submit.run(());
    };
    let class = if danger { "btn danger fill" } else { "btn primary" };
    view! {
        <Dialog title=title subtitle=subtitle on_close=on_close>
            <form novalidate on:submit=submit>
                <div class="dialog-body">
                    <FormFailure failure=form.failure/>
                    {children()}
                </div>
                <div class="dialog-foot">
                    <button class="btn" type="button" on:click=move |_| on_close.run(())>{t.cancel()}</button>
                    <button class=class type="submit" aria-busy=move || form.busy.get().then_some("true")>
                        {move || if form.busy.get() { t.saving().to_owned() } else { action.get() }}
                    </button>
                </div>
            </form>
        </Dialog>
    }
}

/// A question before something that can't be taken back: what happens, in words.
#[component]
pub fn Ask(
    /// The question.
    #[prop(into)]
    title: String,
    /// What happens.
    #[prop(into)]
    words: String,
    /// What the button says.
    #[prop(into)]
    action: String,
    /// Its state.
    form: Form,
    /// Yes.
    on_yes: Callback<()>,
    /// No.
    on_close: Callback<()>,
    /// A field, where one is needed.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    view! {
        <FormDialog title=title form=form action=action danger=true on_submit=on_yes on_close=on_close>
            <p class="small">{words}</p>
            {children.map(|children| children())}
        </FormDialog>
    }
}
