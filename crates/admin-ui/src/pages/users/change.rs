//! Changing somebody, and letting somebody go.

use api_types::person::ChangeUser;
use api_types::session::{Role, User, UserStatus};
use leptos::prelude::*;

use super::invite::roles;
use crate::api::users;
use crate::components::field::{SelectField, TextField};
use crate::components::switch::Switch;
use crate::components::toasts::{Toast, Toasts};
use crate::i18n::language;
use crate::pages::form::{Form, filled, typed};
use crate::pages::form_dialog::{Ask, FormDialog};

/// The dialog with name, role and state.
#[component]
pub fn ChangeUserDialog(
    /// Who.
    user: User,
    /// It is done, or unwanted.
    on_close: Callback<()>,
) -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let form = Form::new();
    let of_tenant = matches!(user.role, Role::TenantOwner | Role::TenantViewer);
    let (name, role) = (typed(user.name.clone()), typed(user.role.as_str()));
    let (disabled, remove_factor) = (RwSignal::new(user.status == UserStatus::Disabled), RwSignal::new(false));
    let before = user.clone();
    let submit = Callback::new(move |()| {
        let wanted_role = role.get_untracked().parse::<Role>().ok();
        let status = if disabled.get_untracked() { UserStatus::Disabled } else { UserStatus::Active };
        let can_change = before.status != UserStatus::Invited && status != before.status;
        let body = ChangeUser {
            name: filled(name).filter(|name| *name != before.name),
            role: wanted_role.filter(|role| *role != before.role),
            locale: None,
            status: can_change.then_some(status),
            totp: remove_factor.get_untracked().then_some(false),
        };
        let id = before.id.to_string();
        form.send(async move { users::change(&id, &body).await }, move |_| {
            toasts.show(Toast::ok(t.person_changed().to_owned(), None));
            on_close.run(());
        });
    });
    let failure = form.failure;
    let choices = roles(t, !of_tenant, of_tenant);
    let came = user.status != UserStatus::Invited;
    view! {
        <FormDialog title=t.change_person() subtitle=user.email form=form action=t.save().to_owned() on_submit=submit on_close=on_close>
            {came.then(|| view! { <TextField name="name" label=t.name() value=name failure=failure autofocus=true/> })}
            <SelectField name="role" label=t.role_word() hint=t.role_hint() choices=choices value=role failure=failure/>
            {came.then(|| view! { <Switch name="status" label=t.disable_person() hint=t.disable_person_hint() value=disabled/> })}
            {user.totp.then(|| view! { <Switch name="totp" label=t.drop_factor() hint=t.drop_factor_hint() value=remove_factor/> })}
        </FormDialog>
    }
}

/// The question before somebody is removed.
#[component]
pub fn DeleteUserDialog(
    /// Who.
    user: User,
    /// It is done, or unwanted.
    on_close: Callback<()>,
) -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let form = Form::new();
    let id = user.id.to_string();
    let yes = Callback::new(move |()| {
        let id = id.clone();
        form.send(async move { users::delete(&id).await }, move |()| {
            toasts.show(Toast::ok(t.person_removed().to_owned(), None));
            on_close.run(());
        });
    });
    view! {
        <Ask title=t.remove_person() words=t.remove_person_words() action=t.remove() form=form on_yes=yes on_close=on_close>
            <p class="strong small">{user.email}</p>
        </Ask>
    }
}
