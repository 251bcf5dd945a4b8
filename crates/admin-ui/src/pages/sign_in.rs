//! Signing in, at whatever address one came to.

use api_types::session::SignIn;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::form::{Form, filled};
use super::set_up::SetUpForm;
use crate::api::{Failure, people};
use crate::browser;
use crate::components::badge::Tone;
use crate::components::field::TextField;
use crate::components::language_switch::LanguageSwitch;
use crate::components::live::live;
use crate::components::navigation::Mark;
use crate::components::notice::{FormFailure, Notice};
use crate::components::theme_switch::ThemeSwitch;
use crate::i18n::language;
use crate::session::Session;

/// A page before the console proper: the mark, a card, and the choice of language and theme.
#[component]
pub fn Threshold(
    /// The card's heading.
    title: &'static str,
    /// The card.
    children: Children,
) -> impl IntoView {
    browser::set_title(title);
    view! {
        <div class="threshold">
            <header class="threshold-bar">
                <span class="brand"><Mark/><span>"Tollgate"</span></span>
                <span class="row"><LanguageSwitch/><ThemeSwitch/></span>
            </header>
            <main class="card" id="main">
                <div class="card-head"><h1>{title}</h1></div>
                {children()}
            </main>
        </div>
    }
}

/// The sign-in form; on a deployment without anybody, the form for the first administrator.
#[component]
pub fn SignInPage(
    /// A session ran out while someone worked.
    expired: bool,
) -> impl IntoView {
    let needed = RwSignal::new(false);
    spawn_local(async move {
        // Where it can't be asked, signing in says what is the matter.
        if people::set_up_state().await.is_ok_and(|state| state.needed) {
            let _ = needed.try_set(true);
        }
    });
    live(move || {
        if needed.get() {
            view! { <SetUpForm on_done=Callback::new(move |()| needed.set(false))/> }.into_any()
        } else {
            view! { <SignInForm expired=expired/> }.into_any()
        }
    })
}

#[component]
fn SignInForm(expired: bool) -> impl IntoView {
    let t = language();
    let session = expect_context::<Session>();
    let form = Form::new();
    let [email, password, code] = [(); 3].map(|()| RwSignal::new(String::new()));
    // Once asked for, the code's field stays: a wrong one is to be typed again.
    let wants_code = RwSignal::new(false);
    let proven = StoredValue::new((String::new(), String::new()));
    let asked = Signal::derive(move || wants_code.get() && proven.get_value() == (email.get(), password.get()));
    Effect::new(move |_| {
        if form.failure.read().as_ref().and_then(Failure::code) == Some("totp_required") {
            wants_code.set(true);
            proven.set_value((email.get_untracked(), password.get_untracked()));
        }
    });
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        let who = SignIn {
            email: email.get_untracked().trim().to_owned(),
            password: password.get_untracked(),
            totp: filled(code),
        };
        form.send(async move { people::sign_in(&who).await }, move |who| session.enter(who));
    };
    view! {
        <Threshold title=t.sign_in()>
            <form class="card-body stack" novalidate on:submit=submit>
                {expired.then(|| view! { <Notice tone=Tone::Neutral>{t.session_expired()}</Notice> })}
                {live(move || {
                    // Email and password were right before the code was asked for: then it is the code that is wrong.
                    let wrong_code = asked.get() && form.failure.read().as_ref().is_some_and(Failure::is_refused);
                    if wrong_code {
                        view! { <div role="alert"><Notice tone=Tone::Bad>{t.wrong_code()}</Notice></div> }.into_any()
                    } else {
                        view! { <FormFailure failure=form.failure/> }.into_any()
                    }
                })}
                <TextField name="email" label=t.email() value=email failure=form.failure kind="email" autocomplete="username" autofocus=true/>
                <TextField name="password" label=t.password() value=password failure=form.failure kind="password" autocomplete="current-password"/>
                {live(move || wants_code.get().then(|| view! {
                    <TextField name="totp" label=t.totp_code() hint=t.totp_hint() value=code failure=form.failure
                        autocomplete="one-time-code" autofocus=true/>
                }))}
                <button class="btn primary" type="submit" aria-busy=move || form.busy.get().then_some("true")>
                    {move || if form.busy.get() { t.signing_in() } else { t.sign_in() }}
                </button>
                <a class="small" href="/password-reset">{t.password_forgotten()}</a>
            </form>
        </Threshold>
    }
}
