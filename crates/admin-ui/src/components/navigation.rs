//! The main navigation. Only pages that exist stand in it.

use leptos::prelude::*;
use leptos_router::hooks::use_location;

use super::icon::Icon;
use super::language_switch::LanguageSwitch;
use crate::i18n::language;

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
    let path = use_location().pathname;
    // A page was chosen: the drawer has done its work.
    Effect::new(move |_| {
        path.track();
        open.set(false);
    });
    let entry = move |href: &'static str, icon: &'static str, words: &'static str| {
        let here = move || path.read().starts_with(href).then_some("page");
        view! { <li><a href=href title=words aria-current=here><Icon name=icon/><span>{words}</span></a></li> }
    };
    view! {
        <nav class="nav" id="nav" class:open=move || open.get() aria-label=t.main_navigation()
            on:keydown=move |event| { if event.key() == "Escape" { open.set(false) } }>
            <a class="brand" href="/tenants"><Mark/><span>"Tollgate"</span></a>
            <button class="btn ghost icon-only nav-close" type="button" aria-label=t.close_menu() on:click=move |_| open.set(false)>
                <Icon name="x"/>
            </button>
            <h2>{t.operate()}</h2>
            <ul>{entry("/tenants", "tenants", t.tenants())}</ul>
            <div class="nav-foot"><LanguageSwitch in_drawer=true/></div>
        </nav>
        <div class="nav-scrim" class:open=move || open.get() aria-hidden="true" on:click=move |_| open.set(false)></div>
    }
}
