//! The one moment in which a secret is shown.

use leptos::prelude::*;

use super::copy::CopyButton;
use super::dialog::Dialog;
use super::switch::Switch;
use crate::i18n::language;

/// A dialog with a secret. It stays until the person says that the secret is stored.
#[component]
pub fn SecretDialog(
    /// What was made.
    #[prop(into)]
    title: String,
    /// The secret.
    secret: String,
    /// What to do with it.
    #[prop(into)]
    hint: String,
    /// The secret is stored.
    on_done: Callback<()>,
) -> impl IntoView {
    let t = language();
    let stored = RwSignal::new(false);
    // Escape and the cross wait, too: a secret that was closed away by mistake is gone.
    let close = Callback::new(move |()| {
        if stored.get_untracked() {
            on_done.run(());
        }
    });
    view! {
        <Dialog title=title subtitle=t.secret_once_hint() on_close=close>
            <div class="dialog-body">
                <p class="small">{hint}</p>
                <div class="secret-value">
                    <code data-secret="once">{secret.clone()}</code>
                    <CopyButton text=secret label=t.copy_secret() caption=t.copy_secret().to_owned() class="primary"/>
                </div>
                <Switch name="stored" label=t.stored_safely() value=stored/>
            </div>
            <div class="dialog-foot">
                <button class="btn" type="button" disabled=move || !stored.get() on:click=move |_| on_done.run(())>{t.done()}</button>
            </div>
        </Dialog>
    }
}
