//! More quota for a tenant.

use api_types::grant::{CreateGrant, GrantKind};
use domain::{Amount, Unit};
use leptos::prelude::*;

use super::wire;
use crate::api::grants;
use crate::components::field::{AmountField, TextField};
use crate::components::segmented::Segmented;
use crate::components::toasts::Toasts;
use crate::format;
use crate::i18n::language;
use crate::pages::force::tell;
use crate::pages::form::{Form, filled};
use crate::pages::form_dialog::FormDialog;

/// The dialog.
#[component]
pub fn AddGrantDialog(
    /// Whose.
    tenant: String,
    /// What it counts in.
    unit: Unit,
    /// It is done or unwanted.
    on_close: Callback<()>,
    /// A grant was added.
    on_added: Callback<()>,
) -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let form = Form::new();
    let kind = RwSignal::new(GrantKind::Temporary.as_str());
    let [amount, ends, note] = [(); 3].map(|()| RwSignal::new(String::new()));
    let submit = Callback::new(move |()| {
        let body = CreateGrant {
            kind: kind.get_untracked().parse().unwrap_or(GrantKind::Temporary),
            amount: wire::amount(&amount.get_untracked()),
            priority: None,
            starts_at: None,
            ends_at: wire::instant(ends),
            renews_at: None,
            note: filled(note).unwrap_or_default(),
        };
        let key = form.key_for(&body);
        let tenant = tenant.clone();
        form.send(async move { grants::create(&tenant, &body, &key).await }, move |grant| {
            let total =
                grant.quota.as_ref().and_then(|quota| quota.total.as_ref()).map(|total| format::short(total.as_str()));
            let title = total.map_or_else(|| t.add_grant().to_owned(), |total| t.total_is_now(&total));
            tell(toasts, t, title, grant.in_force);
            on_added.run(());
            on_close.run(());
        });
    });
    let kinds = GrantKind::ALL.iter().map(|kind| (kind.as_str(), t.grant_kind(*kind))).collect();
    let hint = if unit == Unit::Token { t.amount_hint_tokens() } else { t.amount_hint() };
    let words = move || {
        let typed = format::typed_amount(&amount.read());
        match Amount::parse(&typed, unit) {
            Ok(amount) => t.add_amount(&format::amount(amount, unit)),
            Err(_) => t.add_grant().to_owned(),
        }
    };
    view! {
        <FormDialog title=t.add_grant() form=form action=Signal::derive(words) on_submit=submit on_close=on_close>
            <Segmented name="kind" label=t.kind() hint=t.kind_hint() choices=kinds value=kind/>
            <div class="form-grid">
                <AmountField name="amount" label=t.amount() hint=hint unit=unit.as_str() value=amount failure=form.failure autofocus=true/>
                <TextField name="ends_at" label=t.ends() hint=t.ends_hint() value=ends failure=form.failure kind="datetime-local"/>
            </div>
            <TextField name="note" label=t.note() hint=t.note_hint() value=note failure=form.failure/>
        </FormDialog>
    }
}
