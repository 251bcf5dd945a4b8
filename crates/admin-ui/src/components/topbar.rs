//! The bar above every page.

use api_types::session::Session as Who;
use leptos::prelude::*;

use super::icon::Icon;
use super::language_switch::LanguageSwitch;
use super::theme_switch::ThemeSwitch;
use crate::i18n::language;

/// Menu button, language, theme, the person and the way out.
#[component]
pub fn Topbar(
    /// Who is signed in.
    who: Who,
    /// The drawer of the navigation.
    menu: RwSignal<bool>,
    /// The person wants out.
    on_sign_out: Callback<()>,
) -> impl IntoView {
    let t = language();
    let initials: String = who.user.email.chars().take(2).flat_map(char::to_uppercase).collect();
    let signed_in = t.signed_in_as(&who.user.email, who.user.role.as_str());
    let named = format!("{initials}: {signed_in}");
    view! {
        <header class="topbar">
            <button class="btn ghost icon-only menu-btn" type="button" aria-label=t.menu() aria-controls="nav"
                aria-expanded=move || menu.get().to_string() on:click=move |_| menu.set(true)>
                <Icon name="menu"/>
            </button>
            <div class="topbar-end">
                <LanguageSwitch/>
                <ThemeSwitch/>
                <a class="avatar" href="/account" aria-label=named title=signed_in>{initials}</a>
                <button class="btn ghost" type="button" on:click=move |_| on_sign_out.run(())>{t.sign_out()}</button>
            </div>
        </header>
    }
}
