//! What another catalog changes, before it is put in force.

use api_types::matrix::{ChangedModel, MatrixChanges};
use leptos::prelude::*;
use serde_json::Value;

use crate::api::prices;
use crate::components::badge::Tone;
use crate::components::notice::Notice;
use crate::components::toasts::{Toast, Toasts};
use crate::i18n::{Language, language};
use crate::pages::form::Form;
use crate::pages::form_dialog::FormDialog;

/// The dialog: it asks before anything is changed.
#[component]
pub fn ChangesDialog(
    /// The catalog that is wanted.
    wanted: Value,
    /// What it changes.
    changes: MatrixChanges,
    /// It is unwanted.
    on_close: Callback<()>,
    /// It is in force.
    on_done: Callback<()>,
) -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let form = Form::new();
    let nothing = changes.added.is_empty() && changes.changed.is_empty() && changes.removed.is_empty();
    let submit = Callback::new(move |()| {
        if nothing {
            on_close.run(());
            return;
        }
        let wanted = wanted.clone();
        form.send(async move { prices::write(&wanted, false).await }, move |_| {
            toasts.show(Toast::ok(t.matrix_in_force().to_owned(), None));
            on_done.run(());
        });
    });
    let takes_away = !changes.removed.is_empty();
    let list = |words: &'static str, names: Vec<String>| {
        (!names.is_empty()).then(|| view! { <p class="small"><span class="strong">{words}</span>" "<span class="wrap mono">{names.join(", ")}</span></p> })
    };
    let action = if nothing { t.close().to_owned() } else { t.put_in_force().to_owned() };
    let differences = changes.changed.into_iter().map(|model| changed(t, model)).collect::<Vec<_>>();
    view! {
        <FormDialog title=t.what_changes() subtitle=t.unchanged_models(changes.unchanged) form=form action=action danger=takes_away
            on_submit=submit on_close=on_close>
            {nothing.then(|| view! { <p class="small">{t.nothing_changes()}</p> })}
            {takes_away.then(|| view! { <Notice tone=Tone::Warn>{t.models_go()}</Notice> })}
            {list(t.models_gone(), changes.removed)}
            {list(t.models_new(), changes.added)}
            <div data-list="differences">{differences}</div>
        </FormDialog>
    }
}

fn changed(t: Language, model: ChangedModel) -> AnyView {
    let text = |value: Value| match value {
        Value::Null => "–".to_owned(),
        Value::String(text) => text,
        other => other.to_string(),
    };
    let row = |one: api_types::matrix::MatrixDifference| {
        view! {
            <tr><th scope="row" class="mono wrap">{one.field}</th><td class="r wrap">{text(one.before)}</td><td class="r strong wrap">{text(one.after)}</td></tr>
        }
        .into_any()
    };
    let rows = model.differences.into_iter().map(row).collect::<Vec<_>>();
    let label = model.name.clone();
    view! {
        <div class="table-wrap" tabindex="0" role="group" aria-label=label>
            <table class="table dense">
                <caption class="strong small left">{model.name}</caption>
                <thead><tr><th scope="col">{t.field_word()}</th><th scope="col" class="r">{t.before()}</th><th scope="col" class="r">{t.after()}</th></tr></thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .into_any()
}
