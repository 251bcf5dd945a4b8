//! The link of an invitation: a name and a password, and one is in.

use api_types::person::{AcceptInvitation, Invitation, LookUpInvitation};
use api_types::session::SignIn;
use leptos::prelude::*;

use super::form::Form;
use super::sign_in::Threshold;
use crate::api::people;
use crate::browser;
use crate::components::badge::Tone;
use crate::components::field::TextField;
use crate::components::live::live;
use crate::components::notice::{FormFailure, Notice};
use crate::i18n::language;
use crate::router::Router;
use crate::session::Session;

/// Shows whom the invitation is for, and takes it.
#[component]
pub fn InvitationPage() -> impl IntoView {
    let t = language();
    let token = link_token();
    let asked = Form::new();
    let found = RwSignal::new(None::<Invitation>);
    Effect::new(move |_| {
        let link = LookUpInvitation { token: token.get() };
        found.set(None);
        asked.send(async move { people::look_up(&link).await }, move |invitation| found.set(Some(invitation)));
    });
    view! {
        <Threshold title=t.invitation()>
            {live(move || match found.get() {
                Some(invitation) => view! { <AcceptForm token=token.get_untracked() invitation=invitation/> }.into_any(),
                None => view! {
                    <div class="card-body stack">
                        <LinkFailure form=asked hint=t.invitation_over_hint()/>
                        <a class="small" href="/">{t.to_sign_in()}</a>
                    </div>
                }.into_any(),
            })}
        </Threshold>
    }
}

/// The token of the link that led here; another one where a link to the same page is opened in its place, which loads nothing.
pub fn link_token() -> RwSignal<String> {
    let token = RwSignal::new(browser::take_fragment());
    browser::on_address(move || {
        let next = browser::take_fragment();
        if !next.is_empty() {
            let _ = token.try_set(next);
        }
    });
    token
}

/// Why a mail's link leads nowhere, or the form's other failure.
#[component]
pub fn LinkFailure(
    /// The form that was sent with the link's token.
    form: Form,
    /// What helps.
    hint: &'static str,
) -> impl IntoView {
    let t = language();
    live(move || {
        let refused = form.failure.read().as_ref().is_some_and(crate::api::Failure::is_refused);
        if refused {
            view! { <div role="alert"><Notice tone=Tone::Bad>{t.link_over()} " " {hint}</Notice></div> }.into_any()
        } else {
            view! { <FormFailure failure=form.failure/> }.into_any()
        }
    })
}

#[component]
fn AcceptForm(token: String, invitation: Invitation) -> impl IntoView {
    let t = language();
    let (session, router) = (expect_context::<Session>(), expect_context::<Router>());
    let form = Form::new();
    let [name, password] = [(); 2].map(|()| RwSignal::new(String::new()));
    let email = invitation.email.clone();
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        let accepted = AcceptInvitation {
            token: token.clone(),
            name: name.get_untracked().trim().to_owned(),
            password: password.get_untracked(),
        };
        let who = SignIn { email: email.clone(), password: accepted.password.clone(), totp: None };
        let call = async move {
            people::accept(&accepted).await?;
            Ok(people::sign_in(&who).await.ok())
        };
        form.send(call, move |who| {
            match who {
                Some(who) => session.enter(who),
                None => session.leave(),
            }
            router.replace("/");
        });
    };
    view! {
        <form class="card-body stack" novalidate on:submit=submit>
            <p><b>{invitation.email}</b><br/><span class="small muted">{t.role(invitation.role)}</span></p>
            <LinkFailure form=form hint=t.invitation_over_hint()/>
            <TextField name="name" label=t.name() value=name failure=form.failure autocomplete="name" autofocus=true/>
            <TextField name="password" label=t.password() hint=t.set_up_password_hint() value=password failure=form.failure
                kind="password" autocomplete="new-password"/>
            <button class="btn primary" type="submit" aria-busy=move || form.busy.get().then_some("true")>{t.accept_invitation()}</button>
        </form>
    }
}
