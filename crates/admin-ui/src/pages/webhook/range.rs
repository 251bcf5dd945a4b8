//! Delivering the events of a time again.

use api_types::webhook::Redeliver;
use leptos::prelude::*;

use crate::api::webhooks;
use crate::components::field::TextField;
use crate::components::toasts::{Toast, Toasts};
use crate::i18n::language;
use crate::pages::form::{Form, Whole, typed};
use crate::pages::form_dialog::FormDialog;
use crate::pages::tenant::wire;

/// From when to when.
#[component]
pub fn RangeDialog(
    /// The endpoint.
    id: String,
    /// It is done or unwanted.
    on_close: Callback<()>,
    /// Events are delivered again.
    on_done: Callback<()>,
) -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let form = Form::new();
    let (from, to) = (typed(""), typed(""));
    let submit = Callback::new(move |()| {
        let mut whole = Whole::default();
        let body = Redeliver { event_ids: None, from: wire::instant(from), to: wire::instant(to) };
        if body.from.is_none() {
            whole.refuse("from", "required");
        }
        if !whole.fits(form) {
            return;
        }
        let id = id.clone();
        form.send(async move { webhooks::redeliver(&id, &body).await }, move |done| {
            toasts.show(Toast::ok(t.queued_again(done.queued), None));
            on_done.run(());
            on_close.run(());
        });
    });
    view! {
        <FormDialog title=t.redeliver_range() form=form action=t.redeliver().to_owned() on_submit=submit on_close=on_close>
            <p class="small">{t.redeliver_range_words()}</p>
            <div class="form-grid">
                <TextField name="from" label=t.from() value=from failure=form.failure kind="datetime-local" autofocus=true/>
                <TextField name="to" label=t.to() value=to failure=form.failure kind="datetime-local"/>
            </div>
        </FormDialog>
    }
}
