//! Another password of one's own.

use api_types::person::ChangePassword;
use leptos::prelude::*;

use crate::api::users;
use crate::components::card::Card;
use crate::components::field::TextField;
use crate::components::notice::FormFailure;
use crate::components::toasts::{Toast, Toasts};
use crate::i18n::language;
use crate::pages::form::{Form, typed};

/// The form.
#[component]
pub fn PasswordCard() -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let form = Form::new();
    let [current, new] = [(); 2].map(|()| typed(""));
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        let body = ChangePassword { current: current.get_untracked(), new: new.get_untracked() };
        form.send(async move { users::change_password(&body).await }, move |()| {
            current.set(String::new());
            new.set(String::new());
            toasts.show(Toast::ok(t.password_changed().to_owned(), None));
        });
    };
    let failure = form.failure;
    view! {
        <Card id="password" title=t.password()>
            <form class="card-body stack" novalidate on:submit=submit>
                <FormFailure failure=failure/>
                <TextField name="current" label=t.present_password() value=current failure=failure kind="password" autocomplete="current-password"/>
                <TextField name="new" label=t.new_password() hint=t.set_up_password_hint() value=new failure=failure kind="password" autocomplete="new-password"/>
                <div><button class="btn" type="submit" aria-busy=move || form.busy.get().then_some("true")>{t.set_password()}</button></div>
            </form>
        </Card>
    }
}
