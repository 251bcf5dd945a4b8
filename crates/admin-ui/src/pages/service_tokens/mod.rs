//! Tokens of systems.

mod create;

use api_types::service_token::ServiceToken;
use leptos::prelude::*;

use crate::api::service_tokens;
use crate::components::button::{Button, opener};
use crate::components::page_head::PageHead;
use crate::components::secret::SecretDialog;
use crate::components::states::Empty;
use crate::components::table::{Column, Row, Table, mono, named, text};
use crate::components::toasts::{Toast, Toasts};
use crate::components::written;
use crate::fetch::fetch;
use crate::i18n::{Language, language};
use crate::pages::form::Form;
use crate::pages::form_dialog::Ask;
use crate::pages::listed::listed;
use crate::pages::rotate::{RotateDialog, Whose};

use create::CreateTokenDialog;

/// The dialog that is open.
#[derive(Clone)]
enum Open {
    Create,
    /// It was made: its secret is shown once.
    Made(Box<ServiceToken>),
    Rotate(Box<ServiceToken>),
    Revoke(Box<ServiceToken>),
}

/// The list of tokens.
#[component]
pub fn ServiceTokensPage() -> impl IntoView {
    let t = language();
    let page = fetch(|| (), |()| service_tokens::list());
    let open = RwSignal::new(None::<Open>);
    let create = opener(open, Open::Create);
    let table = move |items: Vec<ServiceToken>| {
        let columns = vec![
            Column::name(t.service_token()),
            Column::text(t.scopes()),
            Column::text(t.tenants()),
            Column::text(t.expires()),
            Column::text(t.last_used()),
            Column::actions(t.actions()),
        ];
        let rows = items.into_iter().map(|token| row(t, token, open)).collect();
        view! { <Table caption=t.service_tokens() columns=columns rows=rows class="c3"/> }.into_any()
    };
    let empty = move || {
        view! {
            <Empty icon="key" title=t.no_tokens() hint=t.no_tokens_hint()>
                <Button words=t.new_token() icon="plus" on_press=create/>
            </Empty>
        }
        .into_any()
    };
    let close = Callback::new(move |()| {
        open.set(None); // a secret leaves the page's memory with it
        page.again();
    });
    let made = Callback::new(move |token| open.set(Some(Open::Made(Box::new(token)))));
    let dialog = move || {
        open.get().map(|which| match which {
            Open::Create => view! { <CreateTokenDialog on_close=close on_made=made/> }.into_any(),
            Open::Made(token) => {
                let secret = token.secret.unwrap_or_default();
                view! { <SecretDialog title=t.token_created() secret=secret hint=t.token_hint() on_done=close/> }
                    .into_any()
            }
            Open::Rotate(token) => {
                let (whose, id, about) = (Whose::ServiceToken, token.id.to_string(), token.name);
                view! { <RotateDialog whose=whose id=id about=about on_close=close on_done=close/> }.into_any()
            }
            Open::Revoke(token) => view! { <RevokeDialog token=*token on_close=close/> }.into_any(),
        })
    };
    let actions = view! { <Button words=t.new_token() icon="plus" class="primary" on_press=create/> };
    view! {
        <PageHead title=t.service_tokens() hint=t.service_tokens_hint() actions=actions.into_any()/>
        <section class="card" aria-label=t.service_tokens()>{listed(page, 4, table, empty)}</section>
        {dialog}
    }
}

fn row(t: Language, token: ServiceToken, open: RwSignal<Option<Open>>) -> Row {
    let scopes: Vec<&str> = token.scopes.iter().map(|scope| scope.as_str()).collect();
    let tenants = token.tenant_ids.as_ref().map_or_else(|| t.every_tenant().to_owned(), |ids| ids.len().to_string());
    let moment =
        |at: Option<api_types::Timestamp>| at.map_or_else(|| t.never().to_owned(), |at| written::moment(at, t, None));
    let (expires, used) = (moment(token.expires_at), moment(token.last_used_at));
    let label = t.of_row(t.revoke(), &token.name);
    let (name, prefix, scopes) = (token.name.clone(), format!("{}…", token.prefix), scopes.join(", "));
    let rotate_label = t.of_row(t.rotate_secret(), &token.name);
    let rotate = opener(open, Open::Rotate(Box::new(token.clone())));
    let revoke = opener(open, Open::Revoke(Box::new(token)));
    Row::new(vec![
        named(name, None, mono(prefix)),
        view! { <span class="mono tiny wrap">{scopes}</span> }.into_any(),
        text(tenants),
        text(expires),
        text(used),
        view! {
            <Button words=t.rotate_secret() label=rotate_label class="ghost sm" on_press=rotate/>
            <Button words=t.revoke() label=label class="ghost sm" on_press=revoke/>
        }
        .into_any(),
    ])
}

#[component]
fn RevokeDialog(token: ServiceToken, on_close: Callback<()>) -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let form = Form::new();
    let id = token.id.to_string();
    let yes = Callback::new(move |()| {
        let id = id.clone();
        form.send(async move { service_tokens::delete(&id).await }, move |()| {
            toasts.show(Toast::ok(t.token_revoked().to_owned(), None));
            on_close.run(());
        });
    });
    view! {
        <Ask title=t.revoke_token() words=t.revoke_token_words() action=t.revoke() form=form on_yes=yes on_close=on_close>
            <p class="strong small">{token.name}</p>
        </Ask>
    }
}
