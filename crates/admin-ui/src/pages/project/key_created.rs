//! The one moment in which a key's secret is shown, with a call that is ready to be made.

use api_types::key::Key;
use api_types::project::Project;
use domain::Amount;
use leptos::prelude::*;

use crate::api::models;
use crate::browser;
use crate::components::badge::{Badge, Tone};
use crate::components::copy::{CopyButton, Id};
use crate::components::crumbs::{Crumb, Crumbs};
use crate::components::gate::{Gate, Size};
use crate::components::icon::Icon;
use crate::components::snippets::Snippets;
use crate::components::written;
use crate::fetch::fetch;
use crate::figures::Figures;
use crate::format;
use crate::i18n::language;

/// The page after a key was created. It stays until the person says that the secret is stored.
#[component]
pub fn KeyCreated(
    /// Id and name.
    tenant: (String, String),
    /// Whose key.
    project: Project,
    /// The key with its secret.
    key: Key,
    /// The secret is stored.
    on_done: Callback<()>,
) -> impl IntoView {
    let t = language();
    let title = t.key_created(&key.name);
    browser::set_title(&title);
    let stored = RwSignal::new(false);
    let (tenant_id, tenant_name) = tenant;
    let way = vec![
        Crumb::to(t.tenants(), "/tenants"),
        Crumb::to(tenant_name, format!("/tenants/{tenant_id}")),
        Crumb::to(t.projects(), format!("/tenants/{tenant_id}/projects")),
        Crumb::here(project.name),
    ];
    let later = key.in_force == Some(false);
    view! {
        <header class="page-head">
            <Crumbs way=way/>
            <div class="page-title">
                <h1>{title}</h1>
                {if later { view! { <Badge tone=Tone::Warn text=t.takes_effect_later()/> } } else { view! { <Badge tone=Tone::Ok text=t.in_force_everywhere()/> } }}
            </div>
            <dl class="facts">
                <div><dt class="vh">{t.id_word()}</dt><dd><Id id=key.id.to_string()/></dd></div>
                <div><dt>{t.prefix()}</dt><dd class="mono tiny">{key.prefix.clone()}"…"</dd></div>
            </dl>
        </header>
        <div class="cols main-side">
            <div class="stack">
                <Secret secret=key.secret.clone().unwrap_or_default() models=key.models.clone()/>
                <div class="spread">
                    <label class="choice">
                        <input class="check" type="checkbox" name="stored" prop:checked=stored on:change=move |event| stored.set(event_target_checked(&event))/>
                        <span>{t.stored_safely()}</span>
                    </label>
                    <button class="btn" type="button" disabled=move || !stored.get() on:click=move |_| on_done.run(())>{t.done()}</button>
                </div>
            </div>
            <div class="stack"><Facts key_=key/></div>
        </div>
    }
}

#[component]
fn Secret(secret: String, models: Option<Vec<String>>) -> impl IntoView {
    let t = language();
    let known = fetch(|| (), |()| models::list());
    let first = models.and_then(|models| models.into_iter().next());
    let model = Signal::derive(move || {
        let listed = known.data.read().as_ref().and_then(|page| page.items.first().map(|model| model.name.clone()));
        first.clone().or(listed).unwrap_or_else(|| "MODEL".to_owned())
    });
    view! {
        <section class="secret" aria-labelledby="h-secret">
            <div class="secret-head">
                <Icon name="lock"/>
                <div><h2 id="h-secret">{t.secret_once()}</h2><p class="muted">{t.secret_once_hint()}</p></div>
            </div>
            <div class="secret-body">
                <div class="secret-value">
                    <code data-secret="key">{secret.clone()}</code>
                    <CopyButton text=secret label=t.copy_secret() caption=t.copy_secret().to_owned() class="primary"/>
                </div>
                <div class="stack"><h3>{t.try_it()}</h3><Snippets gateway=browser::gateway_url() model=model/></div>
            </div>
        </section>
    }
}

#[component]
fn Facts(key_: Key) -> impl IntoView {
    let t = language();
    let key = key_;
    let numbers = key.quota;
    let figures = Figures::read(&numbers, Amount::ZERO).ok();
    let limit = |text: Option<&api_types::Decimal>| {
        text.map_or_else(|| t.no_limit().to_owned(), |text| format::short(text.as_str()))
    };
    let budget = key.budget.map(|budget| t.amount_per(&format::short(budget.amount.as_str()), budget.period));
    let models = key.models.map_or_else(|| t.every_model().to_owned(), |models| models.join(", "));
    let expires = key.expires_at.map_or_else(|| t.never().to_owned(), |at| written::moment(at, t, None));
    view! {
        <section class="card" aria-labelledby="h-facts">
            <div class="card-head"><h2 id="h-facts">{t.budget()}</h2></div>
            <div class="card-body stack">
                <dl class="kv">
                    <dt>{t.total()}</dt><dd class="num">{budget.unwrap_or_else(|| limit(numbers.total.as_ref()))}</dd>
                    <dt>{t.used()}</dt><dd class="num">{format::short(numbers.used.as_str())}</dd>
                    <dt>{t.in_flight()}</dt><dd class="num">{format::short(numbers.frozen.as_str())}</dd>
                    <dt>{t.remaining()}</dt><dd class="num strong">{limit(numbers.remaining.as_ref())}</dd>
                </dl>
                {figures.map(|figures| view! { <Gate figures=figures about=key.name.clone() size=Size::Plain/> })}
                <dl class="kv">
                    <dt>{t.models()}</dt><dd>{models}</dd>
                    <dt>{t.expires()}</dt><dd>{expires}</dd>
                </dl>
            </div>
        </section>
    }
}
