//! The first administrator.

use api_types::session::{SetUp, SignIn};
use leptos::prelude::*;

use super::form::Form;
use super::sign_in::Threshold;
use crate::api::people;
use crate::components::field::TextField;
use crate::components::notice::FormFailure;
use crate::i18n::language;
use crate::session::Session;

/// Creates the first administrator with the one-time token, and signs in as it.
#[component]
pub fn SetUpForm(
    /// An administrator exists now, but signing in did not follow.
    on_done: Callback<()>,
) -> impl IntoView {
    let t = language();
    let session = expect_context::<Session>();
    let form = Form::new();
    let [token, email, name, password] = [(); 4].map(|()| RwSignal::new(String::new()));
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        let first = SetUp {
            token: token.get_untracked().trim().to_owned(),
            email: email.get_untracked().trim().to_owned(),
            password: password.get_untracked(),
            name: name.get_untracked().trim().to_owned(),
        };
        let who = SignIn { email: first.email.clone(), password: first.password.clone(), totp: None };
        let call = async move {
            people::set_up(&first).await?;
            Ok(people::sign_in(&who).await.ok())
        };
        form.send(call, move |who| match who {
            Some(who) => session.enter(who),
            None => on_done.run(()),
        });
    };
    view! {
        <Threshold title=t.set_up()>
            <form class="card-body stack" novalidate on:submit=submit>
                <p class="small muted">{t.set_up_hint()}</p>
                <FormFailure failure=form.failure/>
                <TextField name="token" label=t.set_up_token() value=token failure=form.failure autofocus=true/>
                <TextField name="email" label=t.email() value=email failure=form.failure kind="email" autocomplete="username"/>
                <TextField name="name" label=t.name() value=name failure=form.failure autocomplete="name"/>
                <TextField name="password" label=t.password() hint=t.set_up_password_hint() value=password failure=form.failure
                    kind="password" autocomplete="new-password"/>
                <button class="btn primary" type="submit" aria-busy=move || form.busy.get().then_some("true")>{t.create_administrator()}</button>
            </form>
        </Threshold>
    }
}
