//! Oneself: sessions, password, second factor.

mod password;
mod sessions;
mod totp;

use leptos::prelude::*;

use crate::components::live::live;
use crate::components::page_head::PageHead;
use crate::components::table::text;
use crate::i18n::language;
use crate::session::{Session, Status};

use password::PasswordCard;
use sessions::SessionsCard;
use totp::TotpCard;

/// The page.
#[component]
pub fn AccountPage() -> impl IntoView {
    let t = language();
    let session = expect_context::<Session>();
    live(move || {
        let Status::SignedIn(who) = session.status() else { return ().into_any() };
        let mut facts = vec![(t.email(), text(who.user.email.clone())), (t.role_word(), text(t.role(who.user.role)))];
        if let Some(tenant) = who.tenant_id {
            facts.push((t.tenant(), crate::components::table::mono(tenant.to_string())));
        }
        view! {
            <PageHead title=t.account() hint=t.account_hint() facts=facts/>
            <div class="cols halves">
                <div class="stack"><TotpCard has=who.user.totp/><PasswordCard/></div>
                <div class="stack"><SessionsCard/></div>
            </div>
        }
        .into_any()
    })
}
