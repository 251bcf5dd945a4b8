//! One endpoint: what it is told, how its deliveries went, and what can be done about them.

mod asks;
mod deliveries;
mod range;

use api_types::webhook::{Webhook, WebhookStatus};
use leptos::prelude::*;

use crate::api::webhooks;
use crate::components::button::{Button, opener};
use crate::components::copy::Id;
use crate::components::crumbs::Crumb;
use crate::components::page_head::PageHead;
use crate::components::table::text;
use crate::components::toasts::{Toast, Toasts};
use crate::components::written;
use crate::fetch::{Fetch, fetch};
use crate::format;
use crate::i18n::{Language, language};
use crate::pages::form::Form;
use crate::pages::listed::page;
use crate::pages::rotate::{RotateDialog, Whose};
use crate::pages::webhooks::form::ChangeWebhookDialog;
use crate::pages::webhooks::state_badge;
use crate::place;

use asks::DeleteDialog;
use deliveries::DeliveriesCard;
use range::RangeDialog;

/// The dialog that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Change,
    Rotate,
    Delete,
    Range,
}

/// The page of one endpoint.
#[component]
pub fn WebhookPage() -> impl IntoView {
    let id = place::id_after("webhooks");
    let webhook = fetch(move || id.get(), |id| async move { webhooks::one(&id).await });
    page(
        webhook,
        |before, now| before == now,
        move |known| view! { <Loaded webhook=known fetched=webhook/> }.into_any(),
    )
}

#[component]
fn Loaded(webhook: Webhook, fetched: Fetch<Webhook>) -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let open = RwSignal::new(None::<Open>);
    let tests = RwSignal::new(0_u32);
    let form = Form::new();
    let id = StoredValue::new(webhook.id.to_string());
    let test = Callback::new(move |()| {
        let id = id.get_value();
        form.send(async move { webhooks::test(&id).await }, move |sent| {
            let detail = Some(sent.event_id.to_string());
            toasts.show(Toast::ok(t.test_sent().to_owned(), detail));
            tests.update(|tests| *tests += 1);
        });
    });
    let enable = Callback::new(move |()| {
        let id = id.get_value();
        form.send(async move { webhooks::enable(&id).await }, move |enabled| {
            toasts.show(Toast::ok(t.enabled_now().to_owned(), None));
            fetched.data.set(enabled);
        });
    });
    Effect::new(move |_| {
        if let Some(failure) = form.failure.get() {
            toasts.show(Toast::bad(t.failure(&failure), None));
        }
    });
    let first = if webhook.status == WebhookStatus::Disabled {
        view! { <Button words=t.enable() class="primary" on_press=enable/> }.into_any()
    } else {
        view! { <Button words=t.send_test() class="primary" on_press=test/> }.into_any()
    };
    let actions = view! {
        {first}
        <Button words=t.change_webhook() on_press=opener(open, Open::Change)/>
        <Button words=t.rotate_secret() on_press=opener(open, Open::Rotate)/>
        <Button words=t.redeliver_range() on_press=opener(open, Open::Range)/>
        <Button words=t.delete() class="danger" on_press=opener(open, Open::Delete)/>
    };
    let way = vec![Crumb::to(t.webhooks(), "/webhooks"), Crumb::here(webhook.url.clone())];
    let (badge, facts) = (state_badge(t, &webhook), facts(t, &webhook));
    let (title, stored) = (webhook.url.clone(), StoredValue::new(webhook));
    let dialog = move || {
        let close = Callback::new(move |()| open.set(None));
        let again = Callback::new(move |()| fetched.again());
        let changed = Callback::new(move |webhook| fetched.data.set(webhook));
        open.get().map(|which| match which {
            Open::Change => {
                view! { <ChangeWebhookDialog webhook=stored.get_value() on_close=close on_changed=changed/> }.into_any()
            }
            Open::Rotate => {
                let about = stored.get_value().url;
                view! { <RotateDialog whose=Whose::Webhook id=id.get_value() about=about on_close=close on_done=again/> }.into_any()
            }
            Open::Delete => view! { <DeleteDialog id=id.get_value() on_close=close/> }.into_any(),
            Open::Range => {
                let done = Callback::new(move |()| tests.update(|tests| *tests += 1));
                view! { <RangeDialog id=id.get_value() on_close=close on_done=done/> }.into_any()
            }
        })
    };
    view! {
        <PageHead way=way title=title badge=badge actions=actions.into_any() facts=facts/>
        <DeliveriesCard id=id.get_value() sent=tests/>
        {dialog}
    }
}

fn facts(t: Language, webhook: &Webhook) -> Vec<(&'static str, AnyView)> {
    let tenant = webhook.tenant_id.map(|id| id.to_string());
    let tenant = match tenant {
        Some(id) => view! { <a class="mono tiny" href=format!("/tenants/{id}")>{format::short_id(&id)}</a> }.into_any(),
        None => text(t.every_tenant()),
    };
    let types: Vec<&str> = webhook.event_types.iter().map(|kind| kind.as_str()).collect();
    let mut facts = vec![
        ("", view! { <Id id=webhook.id.to_string()/> }.into_any()),
        (t.tenant(), tenant),
        (t.event_types(), view! { <span class="mono tiny wrap">{types.join(", ")}</span> }.into_any()),
    ];
    if !webhook.description.is_empty() {
        facts.push((t.description(), text(webhook.description.clone())));
    }
    let moments = [(t.failing_since(), webhook.failing_since), (t.old_secret_until(), webhook.old_valid_until)];
    facts.extend(moments.into_iter().filter_map(|(name, at)| Some((name, text(written::moment(at?, t, None))))));
    facts
}
