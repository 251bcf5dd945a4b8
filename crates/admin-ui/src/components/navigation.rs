//! The main navigation. Only pages that exist stand in it.

use leptos::prelude::*;

use super::icon::Icon;
use super::language_switch::LanguageSwitch;
use super::live::live;
use crate::i18n::language;
use crate::router::Router;
use crate::session::Session;

/// The product's mark.
#[component]
pub fn Mark() -> impl IntoView {
    view! {
        <svg viewBox="0 0 22 22" aria-hidden="true">
            <path d="M5 19V5M2 19h6" stroke="currentColor" stroke-width="2.2" fill="none" stroke-linecap="round"></path>
            <path d="M5 8.5L20 4" stroke="currentColor" stroke-width="2.2" stroke-linecap="round" stroke-dasharray="4.2 3.4"></path>
        </svg>
    }
}

/// The main navigation: names on wide screens, icons on middling ones, a drawer on phones.
#[component]
pub fn Navigation(
    /// Whether the drawer is out.
    open: RwSignal<bool>,
) -> impl IntoView {
    let t = language();
    let router = expect_context::<Router>();
    // A page was chosen: the drawer has done its work.
    Effect::new(move |_| {
        let _ = router.path();
        open.set(false);
    });
    let entry = move |href: &'static str, icon: &'static str, words: &'static str| {
        let here = move || router.path().starts_with(href).then_some("page");
        view! { <li><a href=href title=words aria-current=here><Icon name=icon/><span>{words}</span></a></li> }
            .into_any()
    };
    let session = expect_context::<Session>();
    // Only what the person may open.
    let operate = live(move || {
        let overview = session.is_platform().then(|| entry("/overview", "overview", t.overview()));
        view! {
            <ul>
                {overview}
                {entry("/tenants", "tenants", t.tenants())}{entry("/usage", "usage", t.usage())}
                {entry("/requests", "requests", t.requests())}{entry("/alerts", "alerts", t.alerts())}
            </ul>
        }
    });
    let configure = live(move || {
        let catalog = session.is_platform().then(|| {
            view! { {entry("/models", "models", t.models())}{entry("/prices", "balance", t.prices())}{entry("/upstreams", "upstreams", t.upstreams())} }
        });
        let webhooks = session.may_own().then(|| entry("/webhooks", "webhooks", t.webhooks()));
        view! { <h2>{t.configure()}</h2><ul>{catalog}{webhooks}{entry("/playground", "playground", t.playground())}</ul> }
    });
    let govern = live(move || {
        let people = session.may_manage_people().then(|| entry("/users", "users", t.users()));
        let tokens = session.is_owner().then(|| entry("/service-tokens", "key", t.service_tokens()));
        let audit = session.may_audit().then(|| entry("/audit", "audit", t.audit()));
        let platform = session.is_platform().then(|| {
            view! { {entry("/settings", "settings", t.settings())}{entry("/system", "info", t.system())} }
        });
        view! { <h2>{t.govern()}</h2><ul>{audit}{people}{tokens}{platform}{entry("/account", "lock", t.account())}</ul> }
    });
    view! {
        <nav class="nav" id="nav" class:open=move || open.get() aria-label=t.main_navigation()
            on:keydown=move |event| { if event.key() == "Escape" { open.set(false) } }>
            <a class="brand" href="/"><Mark/><span>"Tollgate"</span></a>
            <button class="btn ghost icon-only nav-close" type="button" aria-label=t.close_menu() on:click=move |_| open.set(false)>
                <Icon name="x"/>
            </button>
            <h2>{t.operate()}</h2>
            {operate}
            {configure}
            {govern}
            <div class="nav-foot"><LanguageSwitch in_drawer=true/></div>
        </nav>
        <div class="nav-scrim" class:open=move || open.get() aria-hidden="true" on:click=move |_| open.set(false)></div>
    }
}
