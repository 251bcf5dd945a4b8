//! A new token: name, scopes, tenants, expiry.

use api_types::service_token::{CreateServiceToken, ServiceToken, TokenScope};
use leptos::prelude::*;

use crate::api::service_tokens;
use crate::components::check_set::CheckSet;
use crate::components::field::{LinesField, TextField};
use crate::i18n::language;
use crate::pages::form::{Form, Whole, lines, typed};
use crate::pages::form_dialog::FormDialog;
use crate::pages::tenant::wire;

/// The dialog. What it made, secret included, goes to `on_made` and nowhere else.
#[component]
pub fn CreateTokenDialog(
    /// It is unwanted.
    on_close: Callback<()>,
    /// It was made.
    on_made: Callback<ServiceToken>,
) -> impl IntoView {
    let t = language();
    let form = Form::new();
    let [name, tenants, expires] = [(); 3].map(|()| typed(""));
    let chosen = RwSignal::new(Vec::<String>::new());
    let submit = Callback::new(move |()| {
        let mut whole = Whole::default();
        let ids = lines(tenants).map(|lines| {
            let read: Vec<_> = lines.iter().filter_map(|line| line.parse().ok()).collect();
            if read.len() < lines.len() {
                whole.refuse("tenant_ids", "not_id");
            }
            read
        });
        if !whole.fits(form) {
            return;
        }
        let words = chosen.get_untracked();
        let body = CreateServiceToken {
            name: name.get_untracked().trim().to_owned(),
            scopes: words.iter().filter_map(|word| word.parse().ok()).collect(),
            tenant_ids: ids,
            expires_at: wire::instant(expires),
        };
        form.send(async move { service_tokens::create(&body).await }, move |made| on_made.run(made));
    });
    let failure = form.failure;
    let scopes = TokenScope::ALL.iter().map(|scope| (scope.to_string(), scope.to_string())).collect();
    view! {
        <FormDialog title=t.new_token() form=form action=t.create_token().to_owned() on_submit=submit on_close=on_close>
            <TextField name="name" label=t.name() hint=t.token_name_hint() value=name failure=failure autofocus=true/>
            <CheckSet name="scopes" label=t.scopes() choices=scopes chosen=chosen failure=failure/>
            <LinesField name="tenant_ids" label=t.tenant_ids() hint=t.tenant_ids_hint() value=tenants failure=failure/>
            <TextField name="expires_at" label=t.expires() hint=t.expires_hint() value=expires failure=failure kind="datetime-local"/>
        </FormDialog>
    }
}
