//! The console: what every page shares, and all pages.

use leptos::prelude::*;

use crate::components::icon::Sprite;
use crate::components::live::live;
use crate::components::toasts::{ToastCorner, Toasts};
use crate::i18n::LanguageChoice;
use crate::pages::frame::Frame;
use crate::pages::invitation::InvitationPage;
use crate::pages::key::KeyPage;
use crate::pages::missing::Missing;
use crate::pages::model::ModelPage;
use crate::pages::models::ModelsPage;
use crate::pages::password_reset::PasswordResetPage;
use crate::pages::project::ProjectPage;
use crate::pages::request::RequestPage;
use crate::pages::requests::RequestsPage;
use crate::pages::service_tokens::ServiceTokensPage;
use crate::pages::sign_in::SignInPage;
use crate::pages::tenant::TenantPage;
use crate::pages::tenants::TenantsPage;
use crate::pages::unreachable::UnreachablePage;
use crate::pages::upstreams::UpstreamsPage;
use crate::pages::webhook::WebhookPage;
use crate::pages::webhooks::WebhooksPage;
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
        Door::Invitation => view! { <InvitationPage/> }.into_any(),
        Door::PasswordReset => view! { <PasswordResetPage/> }.into_any(),
    })
}

/// The page at the present address.
#[component]
fn Pages() -> impl IntoView {
    let router = expect_context::<Router>();
    let here = place::here();
    live(move || match here.get() {
        Place::Home => {
            // After this drawing, not within it.
            Effect::new(move |_| router.replace("/tenants"));
            ().into_any()
        }
        Place::Tenants => view! { <TenantsPage/> }.into_any(),
        Place::Tenant => view! { <TenantPage/> }.into_any(),
        Place::Project => view! { <ProjectPage/> }.into_any(),
        Place::Key => view! { <KeyPage/> }.into_any(),
        Place::Requests => view! { <RequestsPage/> }.into_any(),
        Place::Request => view! { <RequestPage/> }.into_any(),
        Place::Models => view! { <ModelsPage/> }.into_any(),
        Place::Model => view! { <ModelPage/> }.into_any(),
        Place::Upstreams => view! { <UpstreamsPage/> }.into_any(),
        Place::Webhooks => view! { <WebhooksPage/> }.into_any(),
        Place::Webhook => view! { <WebhookPage/> }.into_any(),
        Place::ServiceTokens => view! { <ServiceTokensPage/> }.into_any(),
        Place::Invitation | Place::PasswordReset => ().into_any(),
        Place::Missing => view! { <Missing/> }.into_any(),
    })
}
