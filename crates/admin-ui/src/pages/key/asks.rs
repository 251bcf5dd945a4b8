//! Questions before a key is disabled, enabled or deleted.

use api_types::key::Key;
use api_types::tenant::Reason;
use leptos::prelude::*;

use crate::api::keys;
use crate::components::field::TextField;
use crate::components::toasts::{Toast, Toasts};
use crate::i18n::language;
use crate::pages::force::tell;
use crate::pages::form::{Form, typed};
use crate::pages::form_dialog::{Ask, FormDialog};
use crate::router::Router;

/// Asks why, then disables or enables the key.
#[component]
pub fn StatusDialog(
    /// Which.
    entry: Key,
    /// What it is to be.
    enabled: bool,
    /// It is done or unwanted.
    on_close: Callback<()>,
    /// It was changed.
    on_changed: Callback<Key>,
) -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let form = Form::new();
    let reason = typed("");
    let id = entry.id.to_string();
    let yes = Callback::new(move |()| {
        let (id, why) = (id.clone(), Reason { reason: reason.get_untracked().trim().to_owned() });
        form.send(async move { keys::set_enabled(&id, enabled, &why).await }, move |changed| {
            tell(toasts, t, if enabled { t.key_enabled() } else { t.key_disabled() }, changed.in_force);
            on_close.run(());
            on_changed.run(changed);
        });
    });
    let (title, words, action) = if enabled {
        (t.enable_key_title(), t.enable_key_words(), t.enable_key())
    } else {
        (t.disable_key_title(), t.disable_key_words(), t.disable_key())
    };
    view! {
        <FormDialog title=title subtitle=entry.name form=form action=action.to_owned() danger=!enabled on_submit=yes on_close=on_close>
            <p class="small">{words}</p>
            <TextField name="reason" label=t.reason() hint=t.reason_hint() value=reason failure=form.failure autofocus=true/>
        </FormDialog>
    }
}

/// Asks, then leads back to the project.
#[component]
pub fn DeleteKeyDialog(
    /// Which.
    entry: Key,
    /// The project's address.
    back: String,
    /// It is unwanted.
    on_close: Callback<()>,
) -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let router = expect_context::<Router>();
    let form = Form::new();
    let id = entry.id.to_string();
    let yes = Callback::new(move |()| {
        let (id, back) = (id.clone(), back.clone());
        form.send(async move { keys::delete(&id).await }, move |()| {
            toasts.show(Toast::ok(t.key_deleted().to_owned(), None));
            on_close.run(());
            router.go(&back);
        });
    });
    view! {
        <Ask title=t.delete_key_title() words=t.delete_key_words() action=t.delete_key() form=form on_yes=yes on_close=on_close>
            <p class="strong small">{entry.name}" "<span class="mono">{entry.prefix}"…"</span></p>
        </Ask>
    }
}
