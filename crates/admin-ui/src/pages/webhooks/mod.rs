//! Webhook endpoints.

pub mod form;

use api_types::webhook::{DisabledReason, Webhook, WebhookStatus};
use leptos::prelude::*;

use crate::api::webhooks;
use crate::components::badge::{Badge, Tone};
use crate::components::button::{Button, opener};
use crate::components::live::live;
use crate::components::page_head::PageHead;
use crate::components::secret::SecretDialog;
use crate::components::states::Empty;
use crate::components::table::{Column, Row, Table, named, text};
use crate::components::written;
use crate::fetch::fetch;
use crate::format;
use crate::i18n::{Language, language};
use crate::pages::listed::listed;
use crate::router::Router;

use form::CreateWebhookDialog;

/// The dialog that is open.
#[derive(Clone)]
enum Open {
    Create,
    /// It was made: its secret is shown once.
    Made(Box<Webhook>),
}

/// The list of endpoints.
#[component]
pub fn WebhooksPage() -> impl IntoView {
    let t = language();
    let page = fetch(|| (), |()| webhooks::list());
    let open = RwSignal::new(None::<Open>);
    let create = opener(open, Open::Create);
    let router = expect_context::<Router>();
    let made = Callback::new(move |webhook| open.set(Some(Open::Made(Box::new(webhook)))));
    let done = Callback::new(move |id: String| {
        open.set(None); // the secret leaves the page's memory with it
        router.go(&format!("/webhooks/{id}"));
    });
    let table = move |items: Vec<Webhook>| {
        let columns = vec![
            Column::name(t.webhook()),
            Column::text(t.tenant()),
            Column::text(t.event_types()),
            Column::aside(t.created()),
            Column::state(t.state()),
        ];
        let rows = items.into_iter().map(|webhook| row(t, webhook)).collect();
        view! { <Table caption=t.webhooks() columns=columns rows=rows class="c3"/> }.into_any()
    };
    let empty = move || {
        view! {
            <Empty icon="webhooks" title=t.no_webhooks() hint=t.no_webhooks_hint()>
                <Button words=t.new_webhook() icon="plus" on_press=create/>
            </Empty>
        }
        .into_any()
    };
    let dialog = live(move || {
        open.get().map(|which| match which {
            Open::Create => {
                let close = Callback::new(move |()| open.set(None));
                view! { <CreateWebhookDialog on_close=close on_made=made/> }.into_any()
            }
            Open::Made(webhook) => {
                let id = webhook.id.to_string();
                let on_done = Callback::new(move |()| done.run(id.clone()));
                let secret = webhook.secret.unwrap_or_default();
                view! { <SecretDialog title=t.webhook_created() secret=secret hint=t.sign_hint() on_done=on_done/> }
                    .into_any()
            }
        })
    });
    let actions = view! { <Button words=t.new_webhook() icon="plus" class="primary" on_press=create/> };
    view! {
        <PageHead title=t.webhooks() hint=t.webhooks_hint() actions=actions.into_any()/>
        <section class="card" aria-label=t.webhooks()>{listed(page, 4, table, empty)}</section>
        {dialog}
    }
}

fn row(t: Language, webhook: Webhook) -> Row {
    let badge = state_badge(t, &webhook);
    let tenant = webhook.tenant_id.map_or_else(|| t.every_tenant().to_owned(), |id| format::short_id(&id.to_string()));
    let types: Vec<&str> = webhook.event_types.iter().map(|kind| kind.as_str()).collect();
    let types = match types.as_slice() {
        [only] => (*only).to_owned(),
        several => several.len().to_string(),
    };
    Row {
        class: if webhook.status == WebhookStatus::Disabled { "off" } else { "" },
        cells: vec![
            named(webhook.url, Some(format!("/webhooks/{}", webhook.id)), text(webhook.description)),
            text(tenant),
            text(types),
            text(written::day(webhook.created_at, t, None)),
            badge,
        ],
    }
}

/// Whether an endpoint is told, and if not, why.
#[must_use]
pub fn state_badge(t: Language, webhook: &Webhook) -> AnyView {
    let (tone, words) = match (webhook.status, webhook.disabled_reason) {
        (WebhookStatus::Enabled, _) if webhook.failing_since.is_some() => (Tone::Warn, t.failing()),
        (WebhookStatus::Enabled, _) => (Tone::Ok, t.enabled()),
        (WebhookStatus::Disabled, Some(DisabledReason::Gone)) => (Tone::Bad, t.gone()),
        (WebhookStatus::Disabled, Some(DisabledReason::Failing)) => (Tone::Bad, t.gave_up()),
        (WebhookStatus::Disabled, None) => (Tone::Held, t.disabled()),
    };
    view! { <Badge tone=tone text=words/> }.into_any()
}
