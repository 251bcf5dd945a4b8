//! What surrounds every page of someone signed in.

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::people;
use crate::components::live::live;
use crate::components::navigation::Navigation;
use crate::components::toasts::{Toast, Toasts};
use crate::components::topbar::Topbar;
use crate::i18n::language;
use crate::router::Router;
use crate::session::{Session, Status};

/// Navigation, top bar and the page.
#[component]
pub fn Frame(
    /// The page.
    children: Children,
) -> impl IntoView {
    let t = language();
    let session = expect_context::<Session>();
    let toasts = expect_context::<Toasts>();
    let router = expect_context::<Router>();
    let menu = RwSignal::new(false);
    let sign_out = Callback::new(move |()| {
        spawn_local(async move {
            match people::sign_out().await {
                Err(failure) if !failure.is_signed_out() => {
                    toasts.show(Toast::bad(t.failure(&failure), None));
                }
                _ => {
                    // The next person starts at the front, not on a page of this one's.
                    router.replace("/");
                    session.leave();
                }
            }
        });
    });
    let bar = live(move || match session.status() {
        Status::SignedIn(who) => Some(view! { <Topbar who=*who menu=menu on_sign_out=sign_out/> }),
        _ => None,
    });
    view! {
        <a class="skip" href="#main">{t.skip_to_content()}</a>
        <div class="app">
            <Navigation open=menu/>
            {bar}
            <main class="main" id="main" tabindex="-1">{children()}</main>
        </div>
    }
}
