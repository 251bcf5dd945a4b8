//! Inviting somebody by mail.

use api_types::person::InviteUser;
use api_types::session::{Locale, Role};
use leptos::prelude::*;

use crate::api::users;
use crate::components::field::{SelectField, TextField};
use crate::components::live::live;
use crate::components::toasts::{Toast, Toasts};
use crate::i18n::{Language, language};
use crate::pages::form::{Form, Whole, filled, typed};
use crate::pages::form_dialog::FormDialog;
use crate::session::Session;

/// The roles that one may give: of the platform and of tenants, or of a tenant alone.
#[must_use]
pub fn roles(t: Language, platform: bool, tenant: bool) -> Vec<(String, String)> {
    let of_platform = [Role::Operator, Role::Viewer, Role::Owner];
    let of_tenant = [Role::TenantOwner, Role::TenantViewer];
    let wanted = of_platform.into_iter().filter(|_| platform).chain(of_tenant.into_iter().filter(|_| tenant));
    wanted.map(|role| (role.as_str().to_owned(), t.role(role).to_owned())).collect()
}

/// The dialog.
#[component]
pub fn InviteDialog(
    /// The tenant that the page is about; empty: any.
    tenant: String,
    /// It is done, or unwanted.
    on_close: Callback<()>,
) -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let form = Form::new();
    // The owner of a tenant invites into it, and need not say so.
    let is_owner = untrack(|| expect_context::<Session>().is_owner());
    let fixed = !tenant.is_empty();
    let choices = roles(t, is_owner && !fixed, true);
    let role = typed(choices.first().map(|(role, _)| role.clone()).unwrap_or_default());
    let [email, of] = [typed(""), typed(tenant)];
    let locale = typed(t.tag());
    let submit = Callback::new(move |()| {
        let mut whole = Whole::default();
        let Ok(role) = role.get_untracked().parse::<Role>() else { return };
        let wants = matches!(role, Role::TenantOwner | Role::TenantViewer);
        let text = filled(of).filter(|_| wants);
        let tenant_id = text.as_ref().and_then(|text| text.parse().ok());
        if text.is_some() && tenant_id.is_none() {
            whole.refuse("tenant_id", "not_id");
        }
        if !whole.fits(form) {
            return;
        }
        let locale: Option<Locale> = locale.get_untracked().parse().ok();
        let body = InviteUser { email: email.get_untracked().trim().to_owned(), role, tenant_id, locale };
        form.send(async move { users::invite(&body).await }, move |user| {
            toasts.show(Toast::ok(t.invited_toast(&user.email), None));
            on_close.run(());
        });
    });
    let failure = form.failure;
    let locales = vec![("en".to_owned(), "English".to_owned()), ("zh".to_owned(), "中文".to_owned())];
    let needs_tenant = move || is_owner && !fixed && role.read().starts_with("tenant_");
    view! {
        <FormDialog title=t.invite_somebody() form=form action=t.send_invitation().to_owned() on_submit=submit on_close=on_close>
            <TextField name="email" label=t.email() value=email failure=failure kind="email" autofocus=true/>
            <SelectField name="role" label=t.role_word() hint=t.role_hint() choices=choices value=role failure=failure/>
            {live(move || needs_tenant().then(|| view! {
                <TextField name="tenant_id" label=t.tenant_id() hint=t.tenant_id_hint() value=of failure=failure/>
            }))}
            <SelectField name="locale" label=t.language_of_mails() choices=locales value=locale failure=failure/>
        </FormDialog>
    }
}
