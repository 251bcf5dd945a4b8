//! A question before a model is removed.

use api_types::model::Model;
use leptos::prelude::*;

use crate::api::models;
use crate::components::toasts::{Toast, Toasts};
use crate::i18n::language;
use crate::pages::form::Form;
use crate::pages::form_dialog::Ask;
use crate::router::Router;

/// Asks, then leads back to the list.
#[component]
pub fn DeleteModelDialog(
    /// Which.
    model: Model,
    /// It is unwanted.
    on_close: Callback<()>,
) -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let router = expect_context::<Router>();
    let form = Form::new();
    let id = model.id.to_string();
    let yes = Callback::new(move |()| {
        let id = id.clone();
        form.send(async move { models::delete(&id).await }, move |()| {
            toasts.show(Toast::ok(t.model_deleted().to_owned(), None));
            on_close.run(());
            router.go("/models");
        });
    });
    view! {
        <Ask title=t.delete_model() words=t.delete_model_words() action=t.delete() form=form on_yes=yes on_close=on_close>
            <p class="strong small">{model.name}</p>
        </Ask>
    }
}
