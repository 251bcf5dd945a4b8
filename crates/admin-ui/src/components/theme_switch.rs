//! Light, dark, or as the system.

use leptos::prelude::*;

use super::icon::Icon;
use crate::i18n::language;
use crate::theme::{Theme, ThemeChoice};

/// A button that goes to the next theme and says which one is on.
#[component]
pub fn ThemeSwitch() -> impl IntoView {
    let t = language();
    let theme = expect_context::<ThemeChoice>();
    let title = move || match theme.get() {
        Theme::System => t.theme_system(),
        Theme::Light => t.theme_light(),
        Theme::Dark => t.theme_dark(),
    };
    view! {
        <button class="btn ghost icon-only" type="button" title=title aria-label=move || format!("{}. {}", t.switch_theme(), title())
            on:click=move |_| theme.switch()>
            <Icon name="theme"/>
        </button>
    }
}
