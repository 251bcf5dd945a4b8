//! The console's parts: pages that a browser loads when they are first shown, so that the first load stays small.
//!
//! A function marked here and all that only it needs go into a file of their own, one for each part's name; `cargo xtask
//! ui` cuts them out. What several parts share goes into files that they share.

use std::future::Future;
use std::pin::Pin;

use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::wasm_split::{SplitLoaderError, wasm_split};

use crate::components::icon::Icon;
use crate::components::live::live;
use crate::components::states::Loading;
use crate::i18n::language;
use crate::pages;

/// A page on its way: it is built under the owner that it is given, once its part is there.
pub type Loaded = Pin<Box<dyn Future<Output = Result<AnyView, SplitLoaderError>>>>;

/// Declares pages that are loaded when they are shown: the part they are in, the function that loads them, the page.
macro_rules! pages {
    ($($part:ident $load:ident $split:ident $page:path;)*) => {$(
        #[wasm_split($part, wasm_split_path = ::leptos::wasm_split, fallible)]
        fn $split(owner: Owner) -> Result<AnyView, SplitLoaderError> {
            Ok(owner.with(|| view! { <$page/> }.into_any()))
        }

        /// Loads a page of a part.
        #[must_use]
        pub fn $load(owner: Owner) -> Loaded {
            Box::pin($split(owner))
        }
    )*};
}

pages! {
    overview overview split_overview pages::overview::OverviewPage;
    tenants tenants split_tenants pages::tenants::TenantsPage;
    tenants tenant split_tenant pages::tenant::TenantPage;
    tenants project split_project pages::project::ProjectPage;
    tenants key split_key pages::key::KeyPage;
    usage usage split_usage pages::usage::UsagePage;
    usage requests split_requests pages::requests::RequestsPage;
    usage request split_request pages::request::RequestPage;
    govern alerts split_alerts pages::alerts::AlertsPage;
    govern audit split_audit pages::audit::AuditPage;
    govern users split_users pages::users::UsersPage;
    govern account split_account pages::account::AccountPage;
    govern settings split_settings pages::settings::SettingsPage;
    govern system split_system pages::settings::system::SystemPage;
    catalog models split_models pages::models::ModelsPage;
    catalog model split_model pages::model::ModelPage;
    catalog prices split_prices pages::prices::PricesPage;
    catalog upstreams split_upstreams pages::upstreams::UpstreamsPage;
    systems webhooks split_webhooks pages::webhooks::WebhooksPage;
    systems webhook split_webhook pages::webhook::WebhookPage;
    systems service_tokens split_service_tokens pages::service_tokens::ServiceTokensPage;
    playground playground split_playground pages::playground::PlaygroundPage;
    entrance invitation split_invitation pages::invitation::InvitationPage;
    entrance password_reset split_password_reset pages::password_reset::PasswordResetPage;
}

/// How far a page has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Loading,
    Here,
    Failed,
}

/// A page that is loaded first, where it was not yet. What could not be loaded says so and can be tried again.
#[component]
pub fn Part(
    /// Loads it.
    load: fn(Owner) -> Loaded,
) -> impl IntoView {
    let state = RwSignal::new(State::Loading);
    let page = StoredValue::new_local(None::<AnyView>);
    let owner = Owner::current().unwrap_or_default();
    let ask = move || {
        let owner = owner.clone();
        state.set(State::Loading);
        spawn_local(async move {
            let loaded = load(owner).await;
            // Left in the meantime: nobody waits for it.
            if state.try_get_untracked().is_none() {
                return;
            }
            let next = if loaded.is_ok() { State::Here } else { State::Failed };
            page.set_value(loaded.ok());
            state.set(next);
        });
    };
    ask();
    live(move || match state.get() {
        State::Loading => view! { <section class="card"><Loading rows=4/></section> }.into_any(),
        State::Here => page.try_update_value(Option::take).flatten().into_any(),
        State::Failed => {
            let again = ask.clone();
            view! { <NotLoaded on_again=Callback::new(move |()| again())/> }.into_any()
        }
    })
}

#[component]
fn NotLoaded(on_again: Callback<()>) -> impl IntoView {
    let t = language();
    view! {
        <header class="page-head"><div class="page-title"><h1>{t.part_not_loaded()}</h1></div></header>
        <section class="card">
            <div class="state bad" role="alert">
                <Icon name="warn"/>
                <p>{t.part_not_loaded_hint()}</p>
                <button class="btn" type="button" on:click=move |_| on_again.run(())><Icon name="refresh"/>{t.try_again()}</button>
            </div>
        </section>
    }
}
