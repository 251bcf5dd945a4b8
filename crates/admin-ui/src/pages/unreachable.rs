//! The API did not answer when the console started.

use leptos::prelude::*;

use super::sign_in::Threshold;
use crate::components::icon::Icon;
use crate::i18n::language;
use crate::session::Session;

/// Says so and tries again when asked.
#[component]
pub fn UnreachablePage() -> impl IntoView {
    let t = language();
    let session = expect_context::<Session>();
    view! {
        <Threshold title=t.service_away()>
            <div class="card-body stack" role="alert">
                <p class="muted">{t.service_away_hint()}</p>
                <button class="btn primary" type="button" on:click=move |_| session.ask()><Icon name="refresh"/>{t.try_again()}</button>
            </div>
        </Threshold>
    }
}
