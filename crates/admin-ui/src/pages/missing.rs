//! An address that leads nowhere.

use leptos::prelude::*;

use crate::browser;
use crate::components::states::Empty;
use crate::i18n::language;

/// Says so and leads back.
#[component]
pub fn Missing() -> impl IntoView {
    let t = language();
    browser::set_title(t.page_missing());
    view! {
        <header class="page-head"><div class="page-title"><h1>{t.page_missing()}</h1></div></header>
        <section class="card">
            <Empty icon="search" title=t.page_missing() hint=t.page_missing_hint()>
                <a class="btn" href="/tenants">{t.to_tenants()}</a>
            </Empty>
        </section>
    }
}
