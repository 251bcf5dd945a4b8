//! Questions before a secret is rotated and before an endpoint is deleted.

use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use crate::api::webhooks;
use crate::components::secret::SecretDialog;
use crate::components::toasts::{Toast, Toasts};
use crate::i18n::language;
use crate::pages::form::Form;
use crate::pages::form_dialog::Ask;

/// Asks, then shows the new secret once.
#[component]
pub fn RotateDialog(
    /// The endpoint.
    id: String,
    /// It is unwanted.
    on_close: Callback<()>,
    /// It was rotated.
    on_done: Callback<()>,
) -> impl IntoView {
    let t = language();
    let form = Form::new();
    let made = RwSignal::new(None::<String>);
    let yes = Callback::new(move |()| {
        let id = id.clone();
        form.send(async move { webhooks::rotate(&id).await }, move |rotated| made.set(Some(rotated.secret)));
    });
    let stored = Callback::new(move |()| {
        on_close.run(());
        on_done.run(());
    });
    move || {
        match made.get() {
        None => view! {
            <Ask title=t.rotate_secret() words=t.rotate_words() action=t.rotate_secret() form=form on_yes=yes on_close=on_close/>
        }
        .into_any(),
        Some(secret) => {
            view! { <SecretDialog title=t.rotated() secret=secret hint=t.sign_hint() on_done=stored/> }.into_any()
        }
    }
    }
}

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
    let navigate = use_navigate();
    let form = Form::new();
    let yes = Callback::new(move |()| {
        let (id, navigate) = (id.clone(), navigate.clone());
        form.send(async move { webhooks::delete(&id).await }, move |()| {
            toasts.show(Toast::ok(t.webhook_deleted().to_owned(), None));
            on_close.run(());
            navigate("/webhooks", NavigateOptions::default());
        });
    });
    view! {
        <Ask title=t.delete_webhook() words=t.delete_webhook_words() action=t.delete() form=form on_yes=yes on_close=on_close/>
    }
}
