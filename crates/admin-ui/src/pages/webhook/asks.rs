//! The question before an endpoint is deleted.

use leptos::prelude::*;

use crate::api::webhooks;
use crate::components::toasts::{Toast, Toasts};
use crate::i18n::language;
use crate::pages::form::Form;
use crate::pages::form_dialog::Ask;
use crate::router::Router;

/// Asks, then leads back to the list.
#[component]
pub fn DeleteDialog(
    /// The endpoint.
    id: String,
    /// It is unwanted.
    on_close: Callback<()>,
) -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let router = expect_context::<Router>();
    let form = Form::new();
    let yes = Callback::new(move |()| {
        let id = id.clone();
        form.send(async move { webhooks::delete(&id).await }, move |()| {
            toasts.show(Toast::ok(t.webhook_deleted().to_owned(), None));
            on_close.run(());
            router.go("/webhooks");
        });
    });
    view! {
        <Ask title=t.delete_webhook() words=t.delete_webhook_words() action=t.delete() form=form on_yes=yes on_close=on_close/>
    }
}
