//! A forgotten password: asking for a link, and the page that the link leads to.

use api_types::person::{RequestPasswordReset, ResetPassword};
use leptos::prelude::*;

use super::form::Form;
use super::invitation::{LinkFailure, link_token};
use super::sign_in::Threshold;
use crate::api::people;
use crate::components::badge::Tone;
use crate::components::field::TextField;
use crate::components::live::live;
use crate::components::notice::{FormFailure, Notice};
use crate::i18n::language;
use crate::session::Session;

/// With a link's token the new password is set, without one a link is asked for.
#[component]
pub fn PasswordResetPage() -> impl IntoView {
    let t = language();
    let token = link_token();
    let done = RwSignal::new("");
    // Another link begins anew.
    Effect::new(move |_| {
        token.track();
        done.set("");
    });
    let form = live(move || {
        let token = token.get();
        match (done.read().is_empty(), token.is_empty()) {
            (false, _) => ().into_any(),
            (true, true) => view! { <AskForm done=done/> }.into_any(),
            (true, false) => view! { <SetForm token=token done=done/> }.into_any(),
        }
    });
    view! {
        <Threshold title=t.reset_password()>
            <div class="card-body stack">
                {form}
                <div role="status">{live(move || Some(done.get()).filter(|words| !words.is_empty()).map(|words| view! {
                    <Notice tone=Tone::Ok>{words}</Notice>
                }))}</div>
                <a class="small" href="/">{t.to_sign_in()}</a>
            </div>
        </Threshold>
    }
}

#[component]
fn AskForm(done: RwSignal<&'static str>) -> impl IntoView {
    let t = language();
    let form = Form::new();
    let email = RwSignal::new(String::new());
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        let whom = RequestPasswordReset { email: email.get_untracked().trim().to_owned() };
        form.send(async move { people::ask_for_reset(&whom).await }, move |()| done.set(t.link_sent()));
    };
    view! {
        <form class="stack" novalidate on:submit=submit>
            <p class="small muted">{t.reset_hint()}</p>
            <FormFailure failure=form.failure/>
            <TextField name="email" label=t.email() value=email failure=form.failure kind="email" autocomplete="username" autofocus=true/>
            <button class="btn primary" type="submit" aria-busy=move || form.busy.get().then_some("true")>{t.send_link()}</button>
        </form>
    }
}

#[component]
fn SetForm(token: String, done: RwSignal<&'static str>) -> impl IntoView {
    let t = language();
    let session = expect_context::<Session>();
    let form = Form::new();
    let password = RwSignal::new(String::new());
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        let reset = ResetPassword { token: token.clone(), password: password.get_untracked() };
        form.send(async move { people::reset_password(&reset).await }, move |_| {
            // Every session has ended by it, also one in this browser.
            session.leave();
            done.set(t.password_set());
        });
    };
    view! {
        <form class="stack" novalidate on:submit=submit>
            <LinkFailure form=form hint=""/>
            <TextField name="password" label=t.new_password() hint=t.set_up_password_hint() value=password failure=form.failure
                kind="password" autocomplete="new-password" autofocus=true/>
            <button class="btn primary" type="submit" aria-busy=move || form.busy.get().then_some("true")>{t.set_password()}</button>
        </form>
    }
}
