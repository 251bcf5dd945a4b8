//! The second factor: begun with a picture and a secret, counting from its first code on.

use api_types::person::{TotpCode, TotpSecret};
use leptos::prelude::*;
use qrcodegen::{QrCode, QrCodeEcc};

use crate::api::users;
use crate::components::badge::{Badge, Tone};
use crate::components::button::Button;
use crate::components::card::Card;
use crate::components::copy::CopyButton;
use crate::components::dialog::Dialog;
use crate::components::field::TextField;
use crate::components::live::live;
use crate::components::notice::FormFailure;
use crate::components::switch::Switch;
use crate::components::toasts::{Toast, Toasts};
use crate::i18n::language;
use crate::pages::form::{Form, typed};
use crate::pages::form_dialog::FormDialog;
use crate::session::Session;

/// What is going on.
#[derive(Clone)]
enum Open {
    /// The secret is shown and its first code wanted.
    Begun(Box<TotpSecret>),
    /// The recovery codes, once.
    Codes(Vec<String>),
    /// A code is wanted, to take the factor away.
    Remove,
}

/// The card and its dialogs.
#[component]
pub fn TotpCard(
    /// Whether there is one.
    has: bool,
) -> impl IntoView {
    let t = language();
    let session = expect_context::<Session>();
    let form = Form::new();
    let open = RwSignal::new(None::<Open>);
    let begin = Callback::new(move |()| {
        form.send(users::start_totp(), move |secret| open.set(Some(Open::Begun(Box::new(secret)))));
    });
    let remove = Callback::new(move |()| open.set(Some(Open::Remove)));
    let done = Callback::new(move |()| {
        open.set(None);
        session.ask();
    });
    let close = Callback::new(move |()| open.set(None));
    let codes = Callback::new(move |codes| open.set(Some(Open::Codes(codes))));
    let dialog = live(move || {
        open.get().map(|which| match which {
            Open::Begun(secret) => view! { <ConfirmDialog secret=*secret on_codes=codes on_close=close/> }.into_any(),
            Open::Codes(codes) => view! { <CodesDialog codes=codes on_done=done/> }.into_any(),
            Open::Remove => view! { <RemoveDialog on_done=done on_close=close/> }.into_any(),
        })
    });
    let (tone, state) = if has { (Tone::Ok, t.factor_on()) } else { (Tone::Neutral, t.factor_off()) };
    let button = if has {
        view! { <Button words=t.remove_factor() on_press=remove/> }.into_any()
    } else {
        view! { <Button words=t.set_up_factor() class="primary" on_press=begin/> }.into_any()
    };
    view! {
        <Card id="factor" title=t.second_factor()>
            <div class="card-body stack">
                <FormFailure failure=form.failure/>
                <div><Badge tone=tone text=state plain=true/></div>
                <p class="small muted">{t.factor_hint()}</p>
                <div>{button}</div>
            </div>
        </Card>
        {dialog}
    }
}

#[component]
fn ConfirmDialog(secret: TotpSecret, on_codes: Callback<Vec<String>>, on_close: Callback<()>) -> impl IntoView {
    let t = language();
    let form = Form::new();
    let code = typed("");
    let submit = Callback::new(move |()| {
        let body = TotpCode { code: code.get_untracked().trim().to_owned() };
        form.send(async move { users::confirm_totp(&body).await }, move |codes| on_codes.run(codes.recovery_codes));
    });
    let (picture, text) = (qr(&secret.otpauth_url, t.qr_label()), secret.secret);
    view! {
        <FormDialog title=t.set_up_factor() subtitle=t.scan_it() form=form action=t.confirm_code().to_owned() on_submit=submit on_close=on_close>
            {picture}
            <div class="secret-value">
                <code data-secret="totp">{text.clone()}</code>
                <CopyButton text=text label=t.copy_secret() caption=t.copy().to_owned() class=""/>
            </div>
            <TextField name="code" label=t.totp_code() value=code failure=form.failure autocomplete="one-time-code" autofocus=true/>
        </FormDialog>
    }
}

/// A text as a QR code; nothing where it is too long for one.
fn qr(text: &str, label: &'static str) -> Option<AnyView> {
    const QUIET: i32 = 2;
    let code = QrCode::encode_text(text, QrCodeEcc::Medium).ok()?;
    let mut path = String::new();
    for y in 0..code.size() {
        for x in (0..code.size()).filter(|x| code.get_module(*x, y)) {
            path.push_str(&format!("M{x} {y}h1v1h-1z"));
        }
    }
    let side = code.size() + 2 * QUIET;
    let bounds = format!("-{QUIET} -{QUIET} {side} {side}");
    Some(view! { <svg class="qr" role="img" aria-label=label viewBox=bounds shape-rendering="crispEdges"><path d=path></path></svg> }.into_any())
}

#[component]
fn CodesDialog(codes: Vec<String>, on_done: Callback<()>) -> impl IntoView {
    let t = language();
    let stored = RwSignal::new(false);
    // What is closed away by mistake is gone.
    let close = Callback::new(move |()| {
        if stored.get_untracked() {
            on_done.run(());
        }
    });
    let all = codes.join("\n");
    let items = codes.into_iter().map(|code| view! { <li>{code}</li> }.into_any()).collect::<Vec<_>>();
    view! {
        <Dialog title=t.recovery_codes() subtitle=t.secret_once_hint() on_close=close>
            <div class="dialog-body">
                <p class="small">{t.recovery_codes_hint()}</p>
                <ul class="codes" data-secret="recovery">{items}</ul>
                <div><CopyButton text=all label=t.copy_secret() caption=t.copy().to_owned() class=""/></div>
                <Switch name="stored" label=t.stored_safely() value=stored/>
            </div>
            <div class="dialog-foot">
                <button class="btn" type="button" disabled=move || !stored.get() on:click=move |_| on_done.run(())>{t.done()}</button>
            </div>
        </Dialog>
    }
}

#[component]
fn RemoveDialog(on_done: Callback<()>, on_close: Callback<()>) -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let form = Form::new();
    let code = typed("");
    let submit = Callback::new(move |()| {
        let body = TotpCode { code: code.get_untracked().trim().to_owned() };
        form.send(async move { users::remove_totp(&body).await }, move |()| {
            toasts.show(Toast::ok(t.factor_removed().to_owned(), None));
            on_done.run(());
        });
    });
    view! {
        <FormDialog title=t.remove_factor() form=form action=t.remove_factor().to_owned() danger=true on_submit=submit on_close=on_close>
            <p class="small">{t.remove_factor_words()}</p>
            <TextField name="code" label=t.totp_code() hint=t.totp_hint() value=code failure=form.failure autocomplete="one-time-code" autofocus=true/>
        </FormDialog>
    }
}
