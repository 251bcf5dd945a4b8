//! Settings of the whole platform: whoever may not change them reads them.

mod form;
pub mod system;

use api_types::platform::PlatformSettings;
use leptos::prelude::*;

use crate::api::platform;
use crate::components::page_head::PageHead;
use crate::fetch::fetch;
use crate::i18n::language;
use crate::pages::listed::page;

use form::SettingsForm;

/// The page.
#[component]
pub fn SettingsPage() -> impl IntoView {
    let t = language();
    let settings = fetch(|| (), |()| platform::settings());
    let shown = page(
        settings,
        |before: &PlatformSettings, now| before.version == now.version,
        move |now| {
            let changed = Callback::new(move |fresh| settings.data.set(fresh));
            let again = Callback::new(move |()| settings.again());
            view! { <SettingsForm settings=now on_changed=changed on_again=again/> }.into_any()
        },
    );
    view! { <PageHead title=t.settings() hint=t.platform_settings_hint()/>{shown} }
}
