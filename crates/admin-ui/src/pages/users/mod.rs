//! The people: who may do what, and who has not come yet.

mod change;
pub mod invite;

use api_types::session::{Role, User, UserStatus};
use leptos::prelude::*;

use crate::api::users;
use crate::components::badge::{Badge, Tone};
use crate::components::button::{Button, opener};
use crate::components::live::live;
use crate::components::page_head::PageHead;
use crate::components::states::Empty;
use crate::components::table::{Column, Row, Table, mono, named, text};
use crate::components::written;
use crate::fetch::fetch;
use crate::format;
use crate::i18n::{Language, language};
use crate::pages::listed::listed;

use change::{ChangeUserDialog, DeleteUserDialog};
use invite::InviteDialog;

/// The dialog that is open.
#[derive(Clone)]
pub enum Open {
    /// Somebody new.
    Invite,
    /// Another role, name or state.
    Change(Box<User>),
    /// Gone for good.
    Delete(Box<User>),
}

/// The page.
#[component]
pub fn UsersPage() -> impl IntoView {
    let t = language();
    let page = fetch(|| (), |()| users::list());
    let open = RwSignal::new(None::<Open>);
    let invite = opener(open, Open::Invite);
    let table = move |items: Vec<User>| table(t, items, open);
    let empty = move || {
        view! {
            <Empty icon="users" title=t.no_users() hint=t.no_users_hint()>
                <Button words=t.invite() icon="plus" on_press=invite/>
            </Empty>
        }
        .into_any()
    };
    let close = Callback::new(move |()| {
        open.set(None);
        page.again();
    });
    let actions = view! { <Button words=t.invite() icon="plus" class="primary" on_press=invite/> };
    view! {
        <PageHead title=t.users() hint=t.users_hint() actions=actions.into_any()/>
        <section class="card" aria-label=t.users()>{listed(page, 4, table, empty)}</section>
        {dialogs(open, None, close)}
    }
}

/// The dialogs about people; `tenant`: whose people they are, where the page is about one tenant.
pub fn dialogs(open: RwSignal<Option<Open>>, tenant: Option<String>, close: Callback<()>) -> AnyView {
    live(move || {
        let tenant = tenant.clone();
        open.get().map(|which| match which {
            Open::Invite => view! { <InviteDialog tenant=tenant.unwrap_or_default() on_close=close/> }.into_any(),
            Open::Change(user) => view! { <ChangeUserDialog user=*user on_close=close/> }.into_any(),
            Open::Delete(user) => view! { <DeleteUserDialog user=*user on_close=close/> }.into_any(),
        })
    })
}

/// The table of people.
pub fn table(t: Language, items: Vec<User>, open: RwSignal<Option<Open>>) -> AnyView {
    let columns = vec![
        Column::name(t.person()),
        Column::state(t.state()),
        Column::text(t.role_word()),
        Column::text(t.second_factor()),
        Column::text(t.last_seen()),
        Column::actions(t.actions()),
    ];
    let rows = items.into_iter().map(|user| row(t, user, open)).collect();
    view! { <Table caption=t.users() columns=columns rows=rows/> }.into_any()
}

fn row(t: Language, user: User, open: RwSignal<Option<Open>>) -> Row {
    let (tone, state) = match user.status {
        UserStatus::Invited => (Tone::Neutral, t.invited()),
        UserStatus::Active => (Tone::Ok, t.active()),
        UserStatus::Disabled => (Tone::Held, t.disabled()),
    };
    let name = if user.name.is_empty() { user.email.clone() } else { user.name.clone() };
    let of_tenant = user.tenant_id.map(|id| {
        let id = id.to_string();
        view! { <a class="under mono" href=format!("/tenants/{id}")>{format::short_id(&id)}</a> }
    });
    let seen = user.last_seen_at.map_or_else(|| t.never().to_owned(), |at| written::moment(at, t, None));
    let (change_label, delete_label) = (t.of_row(t.change_it(), &user.email), t.of_row(t.remove(), &user.email));
    let change = opener(open, Open::Change(Box::new(user.clone())));
    let delete = opener(open, Open::Delete(Box::new(user.clone())));
    let role: Role = user.role;
    Row {
        class: if user.status == UserStatus::Disabled { "off" } else { "" },
        cells: vec![
            named(name, None, mono(user.email)),
            view! { <Badge tone=tone text=state/> }.into_any(),
            view! { {t.role(role)}{of_tenant} }.into_any(),
            text(if user.totp { t.yes() } else { t.no() }),
            text(seen),
            view! {
                <Button words=t.change_it() label=change_label class="ghost sm" on_press=change/>
                <Button words=t.remove() label=delete_label class="ghost sm" on_press=delete/>
            }
            .into_any(),
        ],
    }
}
