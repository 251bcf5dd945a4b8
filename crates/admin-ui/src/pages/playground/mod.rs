//! A chat with a key of one's own, and what its quota does meanwhile.

mod chat;
mod money;

use leptos::prelude::*;

use crate::api::models;
use crate::api::tenants::{self, TenantQuery};
use crate::components::card::Card;
use crate::components::field::{SelectField, TextField};
use crate::components::live::live;
use crate::components::notice::FormFailure;
use crate::components::page_head::PageHead;
use crate::components::switch::Switch;
use crate::fetch::fetch;
use crate::i18n::language;
use crate::session::{Session, Status};

use chat::{Chat, Phase};
use money::MoneyCard;

/// The page.
#[component]
pub fn PlaygroundPage() -> impl IntoView {
    let t = language();
    let session = expect_context::<Session>();
    let chat = Chat::new();
    // The platform's people say whose key it is; a tenant's people have one tenant.
    let own = match untrack(|| session.status()) {
        Status::SignedIn(who) => who.tenant_id.map(|id| id.to_string()),
        _ => None,
    };
    let tenant = RwSignal::new(own.clone().unwrap_or_default());
    view! {
        <PageHead title=t.playground() hint=t.playground_hint()/>
        <div class="cols main-side">
            <div class="stack">
                <AskCard chat=chat tenant=tenant fixed=own.is_some()/>
                <AnswerCard chat=chat/>
            </div>
            <div class="stack"><MoneyCard chat=chat tenant=tenant/></div>
        </div>
    }
}

#[component]
fn AskCard(chat: Chat, tenant: RwSignal<String>, fixed: bool) -> impl IntoView {
    let t = language();
    let failure = chat.failure;
    let known = fetch(|| (), |()| models::list());
    let model = live(move || {
        let names: Vec<(String, String)> = known
            .data
            .get()
            .map(|page| page.items.into_iter().map(|model| (model.name.clone(), model.name)).collect())
            .unwrap_or_default();
        // Without the list, for people of tenants, the name is typed.
        if names.is_empty() {
            return view! { <TextField name="model" label=t.model() value=chat.model failure=failure/> }.into_any();
        }
        if chat.model.read_untracked().is_empty()
            && let Some((first, _)) = names.first()
        {
            chat.model.set(first.clone());
        }
        view! { <SelectField name="model" label=t.model() choices=names value=chat.model failure=failure/> }.into_any()
    });
    let tenants =
        fetch(|| (), |()| async move { tenants::list(&TenantQuery { limit: 200, ..TenantQuery::default() }).await });
    let whose = live(move || {
        if fixed {
            return ().into_any();
        }
        let mut choices = vec![(String::new(), t.not_said().to_owned())];
        choices.extend(
            tenants.data.get().into_iter().flat_map(|page| page.items).map(|one| (one.id.to_string(), one.name)),
        );
        view! { <SelectField name="tenant" label=t.whose_key() hint=t.whose_key_hint() choices=choices value=tenant failure=failure/> }
            .into_any()
    });
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        chat.send(t);
    };
    let busy = move || matches!(chat.phase.get(), Phase::Asking | Phase::Streaming);
    view! {
        <Card id="ask" title=t.ask_card()>
            <form class="card-body stack" novalidate on:submit=submit>
                <FormFailure failure=failure/>
                <div class="form-grid">
                    <TextField name="key" label=t.api_key() hint=t.api_key_hint() value=chat.key failure=failure kind="password"/>
                    {model}
                    {whose}
                    <TextField name="max_tokens" label=t.longest_answer() hint=t.longest_answer_hint() value=chat.most failure=failure/>
                </div>
                <crate::components::field::Field name="messages" label=t.message() failure=failure>
                    <textarea class="input" id="f-messages" name="messages" rows="4" aria-describedby=crate::components::field::described_by("messages")
                        prop:value=chat.message on:input=move |event| chat.message.set(event_target_value(&event))></textarea>
                </crate::components::field::Field>
                <Switch name="stream" label=t.as_stream() value=chat.stream/>
                <div class="form-foot">
                    <button class="btn primary" type="submit" aria-busy=move || busy().then_some("true")>
                        {move || if busy() { t.answering() } else { t.send_chat() }}
                    </button>
                    {live(move || busy().then(|| view! {
                        <button class="btn" type="button" on:click=move |_| chat.stop()>{t.stop()}</button>
                    }))}
                </div>
            </form>
        </Card>
    }
}

#[component]
fn AnswerCard(chat: Chat) -> impl IntoView {
    let t = language();
    let words = move || {
        let text = chat.text.get();
        match chat.phase.get() {
            Phase::Idle => t.no_answer_yet().to_owned(),
            Phase::Asking => t.waiting_for_head().to_owned(),
            _ if text.is_empty() => "…".to_owned(),
            _ => text,
        }
    };
    let busy = move || matches!(chat.phase.get(), Phase::Asking | Phase::Streaming);
    view! {
        <Card id="answer" title=t.answer()>
            <div class="card-body stack">
                <div class="chat" data-chat="answer" tabindex="0" role="log" aria-label=t.answer() aria-busy=move || busy().to_string()>{words}</div>
                {live(move || chat.broken.get().then(|| view! {
                    <crate::components::notice::Notice tone=crate::components::badge::Tone::Warn>{t.broke_off()}</crate::components::notice::Notice>
                }))}
            </div>
        </Card>
    }
}
