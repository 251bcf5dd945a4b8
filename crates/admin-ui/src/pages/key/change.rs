//! Another name, other models, addresses, expiry and limits for a key.

use api_types::Factor;
use api_types::key::{ChangeKey, Key};
use domain::Unit;
use leptos::prelude::*;
use serde_json::Value;

use crate::api::keys;
use crate::browser;
use crate::components::field::{LinesField, TextField};
use crate::components::toasts::Toasts;
use crate::i18n::language;
use crate::json;
use crate::pages::force::tell;
use crate::pages::form::{Form, Whole, filled, lines, typed};
use crate::pages::form_dialog::FormDialog;
use crate::pages::limits_fields::{LimitsFields, LimitsTyped, OWN};
use crate::pages::project::create_key::ModelChoice;
use crate::pages::tenant::wire;

/// The dialog.
#[component]
pub fn ChangeKeyDialog(
    /// As it was read.
    entry: Key,
    /// What it counts in.
    unit: Unit,
    /// It is done or unwanted.
    on_close: Callback<()>,
    /// It was changed.
    on_changed: Callback<Key>,
) -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let form = Form::new();
    let (name, limits) = (typed(entry.name.clone()), LimitsTyped::of(&entry.limits));
    let addresses = typed(entry.ip_ranges.unwrap_or_default().join("\n"));
    let was = entry.expires_at.map(|at| browser::local_of_instant(&at.to_string())).unwrap_or_default();
    let expires = typed(was.clone());
    let factor = typed(entry.safety_factor.map(|factor| factor.to_string()).unwrap_or_default());
    let chosen = RwSignal::new(entry.models.unwrap_or_default());
    let (id, version) = (entry.id.to_string(), entry.version);
    let submit = Callback::new(move |()| {
        let id = id.clone();
        let models = chosen.get_untracked();
        let safety: Option<Factor> = filled(factor).and_then(|text| json::reread(&Value::String(text)));
        if safety.is_none() && filled(factor).is_some() {
            let mut whole = Whole::default();
            whole.refuse("safety_factor", "not_decimal");
            let _ = whole.fits(form); // refused: the form says so
            return;
        }
        // The field holds whole minutes: an end that was not touched keeps its seconds.
        let expires_at = (expires.get_untracked() != was).then(|| wire::instant(expires));
        let body = ChangeKey {
            name: Some(name.get_untracked().trim().to_owned()),
            models: Some((!models.is_empty()).then_some(models)),
            ip_ranges: Some(lines(addresses)),
            expires_at,
            safety_factor: Some(safety),
            limits: Some(Some(limits.value())),
        };
        form.send(async move { keys::change(&id, version, &body).await }, move |changed| {
            tell(toasts, t, t.key_changed(), changed.in_force);
            on_close.run(());
            on_changed.run(changed);
        });
    });
    let failure = form.failure;
    view! {
        <FormDialog title=t.change_key() subtitle=entry.name form=form action=t.save().to_owned() on_submit=submit on_close=on_close>
            <div class="form-grid">
                <TextField name="name" label=t.name() value=name failure=failure autofocus=true/>
                <TextField name="expires_at" label=t.expires() hint=t.expires_hint() value=expires failure=failure kind="datetime-local"/>
            </div>
            <TextField name="safety_factor" label=t.safety_factor() hint=t.key_safety_hint() value=factor failure=failure/>
            <ModelChoice chosen=chosen failure=failure/>
            <LinesField name="ip_ranges" label=t.addresses() hint=t.addresses_hint() value=addresses failure=failure/>
            <h3>{t.limits()}</h3>
            <LimitsFields typed=limits names=OWN unit=unit failure=failure/>
        </FormDialog>
    }
}
