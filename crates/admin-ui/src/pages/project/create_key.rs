//! A new key: name, budget, models, expiry.

use api_types::key::{CreateKey, Key};
use api_types::tenant::PeriodKind;
use domain::Unit;
use leptos::prelude::*;

use super::create::typed_budget;
use crate::api::{keys, models};
use crate::components::dialog::Dialog;
use crate::components::field::{AmountField, SelectField, TextField};
use crate::components::notice::FormFailure;
use crate::fetch::fetch;
use crate::i18n::language;
use crate::pages::form::Form;
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
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
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
    };
    let failure = form.failure;
    view! {
        <Dialog title=t.new_key() on_close=on_close>
            <form novalidate on:submit=submit>
                <div class="dialog-body">
                    <FormFailure failure=failure/>
                    <TextField name="name" label=t.name() hint=t.key_name_hint() value=name failure=failure autofocus=true/>
                    <div class="form-grid">
                        <AmountField name="budget.amount" label=t.budget() hint=t.key_budget_hint() unit=unit.as_str() value=amount failure=failure/>
                        <SelectField name="budget.period" label=t.per() choices=period_choices(t) value=period failure=failure/>
                    </div>
                    <Models chosen=chosen/>
                    <TextField name="expires_at" label=t.expires() hint=t.expires_hint() value=expires failure=failure kind="datetime-local"/>
                </div>
                <div class="dialog-foot">
                    <button class="btn" type="button" on:click=move |_| on_close.run(())>{t.cancel()}</button>
                    <button class="btn primary" type="submit" aria-busy=move || form.busy.get().then_some("true")>
                        {move || if form.busy.get() { t.saving() } else { t.create_key() }}
                    </button>
                </div>
            </form>
        </Dialog>
    }
}

/// The models that the key may call; where they can't be read, the key may call every one.
#[component]
fn Models(chosen: RwSignal<Vec<String>>) -> impl IntoView {
    let t = language();
    let known = fetch(|| (), |()| models::list());
    let one = move |name: String| {
        let (on, own) = (name.clone(), name.clone());
        let toggle = move |event| {
            let wanted = event_target_checked(&event);
            chosen.update(|chosen| {
                chosen.retain(|other| *other != own);
                if wanted {
                    chosen.push(own.clone());
                }
            });
        };
        view! {
            <label class="choice">
                <input class="check" type="checkbox" name="models" prop:checked=move || chosen.read().contains(&on) on:change=toggle/>
                <span class="mono">{name}</span>
            </label>
        }
    };
    move || {
        known.data.get().filter(|page| !page.items.is_empty()).map(|page| {
            view! {
                <fieldset class="field">
                    <legend>{t.models()}</legend>
                    <div class="row">{page.items.into_iter().map(|model| one(model.name)).collect_view()}</div>
                    <p class="hint">{t.models_hint()}</p>
                </fieldset>
            }
        })
    }
}
