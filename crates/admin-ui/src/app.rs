//! The console: what every page shares, and all routes.

use leptos::prelude::*;
use leptos_router::components::{FlatRoutes, Redirect, Route, Router};
use leptos_router::path;

use crate::components::icon::Sprite;
use crate::components::toasts::{ToastCorner, Toasts};
use crate::i18n::LanguageChoice;
use crate::pages::frame::Frame;
use crate::pages::key::KeyPage;
use crate::pages::missing::Missing;
use crate::pages::model::ModelPage;
use crate::pages::models::ModelsPage;
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
    // A change of language builds everything below anew; what a page needs to come back the same is in the address.
    let localised = move || {
        provide_context(choice.get());
        view! { <Entrance/><ToastCorner toasts=toasts/> }
    };
    view! { <Sprite/><Router>{localised}</Router> }
}

/// What the session lets one see at this address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Door {
    Waiting,
    Closed { expired: bool },
    Unreachable,
    Open,
}

#[component]
fn Entrance() -> impl IntoView {
    let session = expect_context::<Session>();
    // A memo, so that a refreshed session does not build the page anew.
    let door = Memo::new(move |_| match session.status() {
        Status::Unknown => Door::Waiting,
        Status::SignedOut { expired } => Door::Closed { expired },
        Status::Unreachable => Door::Unreachable,
        Status::SignedIn(_) => Door::Open,
    });
    move || match door.get() {
        Door::Waiting => ().into_any(),
        Door::Closed { expired } => view! { <SignInPage expired=expired/> }.into_any(),
        Door::Unreachable => view! { <UnreachablePage/> }.into_any(),
        Door::Open => view! { <Frame><Pages/></Frame> }.into_any(),
    }
}

/// All routes.
#[component]
fn Pages() -> impl IntoView {
    view! {
        <FlatRoutes fallback=Missing>
            <Route path=path!("/") view=|| view! { <Redirect path="/tenants"/> }/>
            <Route path=path!("/tenants") view=TenantsPage/>
            <Route path=path!("/tenants/:tenant") view=TenantPage/>
            <Route path=path!("/tenants/:tenant/projects") view=TenantPage/>
            <Route path=path!("/tenants/:tenant/live") view=TenantPage/>
            <Route path=path!("/tenants/:tenant/settings") view=TenantPage/>
            <Route path=path!("/tenants/:tenant/projects/:project") view=ProjectPage/>
            <Route path=path!("/tenants/:tenant/projects/:project/keys/:key") view=KeyPage/>
            <Route path=path!("/requests") view=RequestsPage/>
            <Route path=path!("/requests/:request") view=RequestPage/>
            <Route path=path!("/models") view=ModelsPage/>
            <Route path=path!("/models/:model") view=ModelPage/>
            <Route path=path!("/upstreams") view=UpstreamsPage/>
            <Route path=path!("/webhooks") view=WebhooksPage/>
            <Route path=path!("/webhooks/:webhook") view=WebhookPage/>
            <Route path=path!("/service-tokens") view=ServiceTokensPage/>
        </FlatRoutes>
    }
}
