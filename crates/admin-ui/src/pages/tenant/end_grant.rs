//! A grant's end before its time.

use api_types::grant::{Grant, GrantKind};
use api_types::tenant::Reason;
use leptos::prelude::*;

use super::grants::name_of;
use crate::api::grants;
use crate::components::field::TextField;
use crate::components::toasts::Toasts;
use crate::format;
use crate::i18n::language;
use crate::pages::force::tell;
use crate::pages::form::{Form, filled, typed};
use crate::pages::form_dialog::Ask;

/// Asks, naming what can no longer be spent.
#[component]
pub fn EndGrantDialog(
    /// Which.
    grant: Grant,
    /// It is done or unwanted.
    on_close: Callback<()>,
    /// It has ended.
    on_ended: Callback<()>,
) -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let form = Form::new();
    let reason = typed("");
    let id = grant.id.to_string();
    let yes = Callback::new(move |()| {
        let why = Reason { reason: filled(reason).unwrap_or_default() };
        let key = form.key_for(&why);
        let id = id.clone();
        form.send(async move { grants::end(&id, &why, &key).await }, move |ended| {
            let in_force = ended.in_force;
            tell(toasts, t, t.grant_ended(), in_force);
            on_ended.run(());
            on_close.run(());
        });
    });
    let left = format::short(grant.remaining.as_str());
    let words = t.end_grant_words(&name_of(t, &grant), &left, grant.kind == GrantKind::Plan);
    view! {
        <Ask title=t.end_grant() words=words action=t.end_grant() form=form on_yes=yes on_close=on_close>
            <TextField name="reason" label=t.reason() hint=t.reason_hint() value=reason failure=form.failure autofocus=true/>
        </Ask>
    }
}
