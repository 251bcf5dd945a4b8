//! A new key: name, budget, models, expiry.

use api_types::key::{CreateKey, Key};
use api_types::tenant::PeriodKind;
use domain::Unit;
use leptos::prelude::*;

use super::create::typed_budget;
use crate::api::{Failure, keys, models};
use crate::components::check_set::CheckSet;
use crate::components::field::{AmountField, SelectField, TextField};
use crate::fetch::fetch;
use crate::i18n::language;
use crate::pages::form::Form;
use crate::pages::form_dialog::FormDialog;
use crate::pages::tenant::wire;
use crate::pages::tenants::create::period_choices;

/// The dialog. What it made, secret included, goes to `on_created` and nowhere else.
#[component]
pub fn CreateKeyDialog(
    /// Whose.
    project: String,
    /// What it counts in.
    unit: Unit,
    /// It is unwanted.
    on_close: Callback<()>,
    /// The key with its secret.
    on_created: Callback<Key>,
) -> impl IntoView {
    let t = language();
    let form = Form::new();
    let [name, amount, expires] = [(); 3].map(|()| RwSignal::new(String::new()));
    let period = RwSignal::new(PeriodKind::Month.as_str().to_owned());
    let chosen = RwSignal::new(Vec::<String>::new());
    let submit = Callback::new(move |()| {
        let models = chosen.get_untracked();
        let body = CreateKey {
            name: name.get_untracked().trim().to_owned(),
            budget: typed_budget(amount, period),
            models: (!models.is_empty()).then_some(models),
            ip_ranges: None,
            expires_at: wire::instant(expires),
            safety_factor: None,
            limits: None,
        };
        let once = form.key_for(&body);
        let project = project.clone();
        form.send(async move { keys::create(&project, &body, &once).await }, move |key| on_created.run(key));
    });
    let failure = form.failure;
    view! {
        <FormDialog title=t.new_key() form=form action=t.create_key().to_owned() on_submit=submit on_close=on_close>
            <TextField name="name" label=t.name() hint=t.key_name_hint() value=name failure=failure autofocus=true/>
            <div class="form-grid">
                <AmountField name="budget.amount" label=t.budget() hint=t.key_budget_hint() unit=unit.as_str() value=amount failure=failure/>
                <SelectField name="budget.period" label=t.per() choices=period_choices(t) value=period failure=failure/>
            </div>
            <ModelChoice chosen=chosen failure=failure/>
            <TextField name="expires_at" label=t.expires() hint=t.expires_hint() value=expires failure=failure kind="datetime-local"/>
        </FormDialog>
    }
}

/// The models that the key may call; where they can't be read, the key may call every one.
#[component]
pub fn ModelChoice(
    /// Their names.
    chosen: RwSignal<Vec<String>>,
    /// The form's last failure.
    failure: RwSignal<Option<Failure>>,
) -> impl IntoView {
    let t = language();
    let known = fetch(|| (), |()| models::list());
    move || {
        known.data.get().filter(|page| !page.items.is_empty()).map(|page| {
            let names = page.items.into_iter().map(|model| (model.name.clone(), model.name)).collect();
            view! { <CheckSet name="models" label=t.models() hint=t.models_hint() choices=names chosen=chosen failure=failure/> }
        })
    }
}
