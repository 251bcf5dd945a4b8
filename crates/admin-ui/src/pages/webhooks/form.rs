//! A new endpoint, and a changed one.

use api_types::webhook::{ChangeWebhook, CreateWebhook, EventType, Webhook};
use leptos::prelude::*;

use crate::api::{Failure, webhooks};
use crate::components::check_set::CheckSet;
use crate::components::field::TextField;
use crate::components::toasts::{Toast, Toasts};
use crate::i18n::language;
use crate::pages::form::{Form, Whole, filled, typed};
use crate::pages::form_dialog::FormDialog;

/// What is typed.
#[derive(Clone, Copy)]
struct Typed {
    url: RwSignal<String>,
    description: RwSignal<String>,
    types: RwSignal<Vec<String>>,
}

impl Typed {
    fn types(self) -> Vec<EventType> {
        let chosen = self.types.get_untracked();
        EventType::ALL.iter().copied().filter(|kind| chosen.iter().any(|word| word == kind.as_str())).collect()
    }
}

#[component]
fn Fields(typed: Typed, failure: RwSignal<Option<Failure>>) -> impl IntoView {
    let t = language();
    // A test is sent to the endpoint that asks for it, whatever it is told otherwise.
    let kinds = EventType::ALL.iter().filter(|kind| **kind != EventType::WebhookTest);
    let choices = kinds.map(|kind| (kind.to_string(), kind.to_string())).collect();
    view! {
        <TextField name="url" label="URL" hint=t.url_hint() value=typed.url failure=failure autofocus=true/>
        <CheckSet name="event_types" label=t.event_types() choices=choices chosen=typed.types failure=failure/>
        <TextField name="description" label=t.description() value=typed.description failure=failure/>
    }
}

/// A new endpoint. What it made, secret included, goes to `on_made` and nowhere else.
#[component]
pub fn CreateWebhookDialog(
    /// It is unwanted.
    on_close: Callback<()>,
    /// It was made.
    on_made: Callback<Webhook>,
) -> impl IntoView {
    let t = language();
    let form = Form::new();
    let usual = [EventType::QuotaLow, EventType::QuotaExhausted, EventType::QuotaRestored];
    let types = RwSignal::new(usual.map(|kind| kind.to_string()).into());
    let fields = Typed { url: typed(""), description: typed(""), types };
    let tenant = typed("");
    let submit = Callback::new(move |()| {
        let mut whole = Whole::default();
        let tenant_id = filled(tenant).and_then(|id| {
            let read = id.parse().ok();
            if read.is_none() {
                whole.refuse("tenant_id", "not_id");
            }
            read
        });
        if !whole.fits(form) {
            return;
        }
        let body = CreateWebhook {
            tenant_id,
            url: fields.url.get_untracked().trim().to_owned(),
            event_types: fields.types(),
            description: filled(fields.description),
        };
        form.send(async move { webhooks::create(&body).await }, move |made| on_made.run(made));
    });
    view! {
        <FormDialog title=t.new_webhook() form=form action=t.create_webhook().to_owned() on_submit=submit on_close=on_close>
            <Fields typed=fields failure=form.failure/>
            <TextField name="tenant_id" label=t.whose_events() hint=t.whose_events_hint() value=tenant failure=form.failure/>
        </FormDialog>
    }
}

/// Another URL, other types, another description.
#[component]
pub fn ChangeWebhookDialog(
    /// As it was read.
    webhook: Webhook,
    /// It is done or unwanted.
    on_close: Callback<()>,
    /// It was changed.
    on_changed: Callback<Webhook>,
) -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let form = Form::new();
    let types = RwSignal::new(webhook.event_types.iter().map(ToString::to_string).collect());
    let fields = Typed { url: typed(webhook.url), description: typed(webhook.description), types };
    let (id, version) = (webhook.id.to_string(), webhook.version);
    let submit = Callback::new(move |()| {
        let id = id.clone();
        let body = ChangeWebhook {
            url: Some(fields.url.get_untracked().trim().to_owned()),
            event_types: Some(fields.types()),
            description: Some(fields.description.get_untracked()),
        };
        form.send(async move { webhooks::change(&id, version, &body).await }, move |changed| {
            toasts.show(Toast::ok(t.webhook_changed().to_owned(), None));
            on_close.run(());
            on_changed.run(changed);
        });
    });
    view! {
        <FormDialog title=t.change_webhook() form=form action=t.save().to_owned() on_submit=submit on_close=on_close>
            <Fields typed=fields failure=form.failure/>
        </FormDialog>
    }
}
