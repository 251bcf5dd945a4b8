//! Taking note of an alert: others see that somebody has it.

use api_types::alert::{Acknowledge, Alert};
use leptos::prelude::*;

use crate::api::platform;
use crate::components::field::TextField;
use crate::components::toasts::{Toast, Toasts};
use crate::i18n::language;
use crate::pages::form::{Form, typed};
use crate::pages::form_dialog::FormDialog;

/// The dialog.
#[component]
pub fn AcknowledgeDialog(
    /// Which alert.
    alert: Alert,
    /// It is done, or unwanted.
    on_close: Callback<()>,
) -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let form = Form::new();
    let note = typed("");
    let id = alert.id.to_string();
    let submit = Callback::new(move |()| {
        let (id, body) = (id.clone(), Acknowledge { note: note.get_untracked().trim().to_owned() });
        form.send(async move { platform::acknowledge(&id, &body).await }, move |_| {
            toasts.show(Toast::ok(t.acknowledged().to_owned(), None));
            on_close.run(());
        });
    });
    view! {
        <FormDialog title=t.acknowledge() subtitle=t.alert_kind(&alert.kind).to_owned() form=form action=t.acknowledge().to_owned()
            on_submit=submit on_close=on_close>
            <TextField name="note" label=t.alert_note() hint=t.alert_note_hint() value=note failure=form.failure autofocus=true/>
        </FormDialog>
    }
}
