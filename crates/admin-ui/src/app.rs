//! The console: what every page shares, and all pages.

use leptos::prelude::*;

use crate::components::icon::Sprite;
use crate::components::live::live;
use crate::components::toasts::{ToastCorner, Toasts};
use crate::i18n::LanguageChoice;
use crate::pages::frame::Frame;
use crate::pages::missing::Missing;
use crate::pages::sign_in::SignInPage;
use crate::pages::unreachable::UnreachablePage;
use crate::parts::{self, Part};
use crate::place::{self, Place};
use crate::router::Router;
use crate::session::{Session, Status};
use crate::theme::ThemeChoice;

/// The whole console.
#[component]
pub fn App() -> impl IntoView {
    let choice = LanguageChoice::new();
    let toasts = Toasts::new();
    provide_context(choice);
    provide_context(toasts);
    provide_context(ThemeChoice::new());
    provide_context(Session::start());
    provide_context(Router::start());
    // A change of language builds everything below anew; what a page needs to come back the same is in the address.
    let localised = move || {
        provide_context(choice.get());
        view! { <Entrance/><ToastCorner toasts=toasts/> }
    };
    view! { <Sprite/>{localised} }
}

/// What the session lets one see at this address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Door {
    Waiting,
    Closed {
        expired: bool,
    },
    Unreachable,
    Open,
    /// The links of mails, whoever is signed in.
    Invitation,
    PasswordReset,
}

#[component]
fn Entrance() -> impl IntoView {
    let session = expect_context::<Session>();
    // A memo, so that a refreshed session does not build the page anew.
    let here = place::here();
    let door = Memo::new(move |_| match (here.get(), session.status()) {
        (Place::Invitation, _) => Door::Invitation,
        (Place::PasswordReset, _) => Door::PasswordReset,
        (_, Status::Unknown) => Door::Waiting,
        (_, Status::SignedOut { expired }) => Door::Closed { expired },
        (_, Status::Unreachable) => Door::Unreachable,
        (_, Status::SignedIn(_)) => Door::Open,
    });
    live(move || match door.get() {
        Door::Waiting => ().into_any(),
        Door::Closed { expired } => view! { <SignInPage expired=expired/> }.into_any(),
        Door::Unreachable => view! { <UnreachablePage/> }.into_any(),
        Door::Open => view! { <Frame><Pages/></Frame> }.into_any(),
        Door::Invitation => view! { <Part load=parts::invitation/> }.into_any(),
        Door::PasswordReset => view! { <Part load=parts::password_reset/> }.into_any(),
    })
}

/// The page at the present address.
#[component]
fn Pages() -> impl IntoView {
    let router = expect_context::<Router>();
    let session = expect_context::<Session>();
    let here = place::here();
    live(move || match here.get() {
        Place::Home => {
            let first = if session.is_platform() { "/overview" } else { "/tenants" };
            // After this drawing, not within it.
            Effect::new(move |_| router.replace(first));
            ().into_any()
        }
        Place::Overview => view! { <Part load=parts::overview/> }.into_any(),
        Place::Usage => view! { <Part load=parts::usage/> }.into_any(),
        Place::Alerts => view! { <Part load=parts::alerts/> }.into_any(),
        Place::Audit => view! { <Part load=parts::audit/> }.into_any(),
        Place::Users => view! { <Part load=parts::users/> }.into_any(),
        Place::Account => view! { <Part load=parts::account/> }.into_any(),
        Place::Settings => view! { <Part load=parts::settings/> }.into_any(),
        Place::System => view! { <Part load=parts::system/> }.into_any(),
        Place::Tenants => view! { <Part load=parts::tenants/> }.into_any(),
        Place::Tenant => view! { <Part load=parts::tenant/> }.into_any(),
        Place::Project => view! { <Part load=parts::project/> }.into_any(),
        Place::Key => view! { <Part load=parts::key/> }.into_any(),
        Place::Requests => view! { <Part load=parts::requests/> }.into_any(),
        Place::Request => view! { <Part load=parts::request/> }.into_any(),
        Place::Models => view! { <Part load=parts::models/> }.into_any(),
        Place::Model => view! { <Part load=parts::model/> }.into_any(),
        Place::Prices => view! { <Part load=parts::prices/> }.into_any(),
        Place::Playground => view! { <Part load=parts::playground/> }.into_any(),
        Place::Upstreams => view! { <Part load=parts::upstreams/> }.into_any(),
        Place::Webhooks => view! { <Part load=parts::webhooks/> }.into_any(),
        Place::Webhook => view! { <Part load=parts::webhook/> }.into_any(),
        Place::ServiceTokens => view! { <Part load=parts::service_tokens/> }.into_any(),
        Place::Invitation | Place::PasswordReset => ().into_any(),
        Place::Missing => view! { <Missing/> }.into_any(),
    })
}
