//! Another secret for a key, a service token or a webhook endpoint: the question, then the secret once.

use api_types::key::RotateSecret;
use api_types::webhook::RotatedSecret;
use leptos::prelude::*;

use super::form::{Form, Whole, typed};
use super::form_dialog::FormDialog;
use crate::api::{Failure, keys, service_tokens, webhooks};
use crate::components::field::TextField;
use crate::components::secret::SecretDialog;
use crate::i18n::{Language, language};

/// Whose secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// An API key's.
    Key,
    /// A service token's.
    ServiceToken,
    /// A webhook endpoint's; its grace is a setting of the deployment.
    Webhook,
}

impl Whose {
    const fn words(self, t: Language) -> &'static str {
        match self {
            Self::Webhook => t.rotate_words(),
            Self::Key | Self::ServiceToken => t.rotate_grace_words(),
        }
    }

    const fn hint(self, t: Language) -> &'static str {
        match self {
            Self::Webhook => t.sign_hint(),
            Self::Key => t.rotated_key_hint(),
            Self::ServiceToken => t.token_hint(),
        }
    }

    async fn rotate(self, id: String, how: RotateSecret) -> Result<RotatedSecret, Failure> {
        match self {
            Self::Key => keys::rotate(&id, &how).await,
            Self::ServiceToken => service_tokens::rotate(&id, &how).await,
            Self::Webhook => webhooks::rotate(&id).await,
        }
    }
}

/// Asks, then shows the new secret once.
#[component]
pub fn RotateDialog(
    /// Whose secret.
    whose: Whose,
    /// The id.
    id: String,
    /// By name.
    about: String,
    /// It is unwanted.
    on_close: Callback<()>,
    /// It was rotated, and the secret is stored.
    on_done: Callback<()>,
) -> impl IntoView {
    let t = language();
    let form = Form::new();
    let made = RwSignal::new(None::<String>);
    let hours = typed("24");
    let yes = Callback::new(move |()| {
        let mut whole = Whole::default();
        let grace_s = whole.read::<u32>("grace_s", hours).map(|hours| hours.saturating_mul(3600));
        if whole.fits(form) {
            let rotated = whose.rotate(id.clone(), RotateSecret { grace_s });
            form.send(rotated, move |rotated| made.set(Some(rotated.secret)));
        }
    });
    let stored = Callback::new(move |()| {
        on_close.run(());
        on_done.run(());
    });
    move || match made.get() {
        None => {
            let grace = (whose != Whose::Webhook).then(|| {
                view! { <TextField name="grace_s" label=t.grace_hours() hint=t.grace_hint() value=hours failure=form.failure autofocus=true/> }
            });
            let about = about.clone();
            view! {
                <FormDialog title=t.rotate_secret() subtitle=about form=form action=t.rotate_secret().to_owned() on_submit=yes on_close=on_close>
                    <p class="small">{whose.words(t)}</p>
                    {grace}
                </FormDialog>
            }
            .into_any()
        }
        Some(secret) => {
            view! { <SecretDialog title=t.rotated() secret=secret hint=whose.hint(t) on_done=stored/> }.into_any()
        }
    }
}
