//! What the quota does: set aside, extended, settled.

use std::time::Duration;

use api_types::live::LiveFreeze;
use api_types::request::Request;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::chat::{Chat, Phase};
use crate::api::{live as live_api, requests};
use crate::components::badge::{Badge, Tone};
use crate::components::card::Card;
use crate::components::figure::Exact;
use crate::components::kv::Kv;
use crate::components::live::live;
use crate::components::table::{mono, text};
use crate::format;
use crate::i18n::{Language, language};
use crate::pages::request::usage_of;

/// How often the freeze is looked at while the answer comes.
const LOOK: Duration = Duration::from_millis(400);
/// How often the record is asked for after the end, at most.
const TRIES: u32 = 25;

/// The card beside the chat.
#[component]
pub fn MoneyCard(
    /// The chat.
    chat: Chat,
    /// Whose key it is; empty where nobody said.
    tenant: RwSignal<String>,
) -> impl IntoView {
    let t = language();
    // Each amount that was set aside, and when it was first seen.
    let seen = RwSignal::new(Vec::<LiveFreeze>::new());
    let record = RwSignal::new(None::<Box<Request>>);
    Effect::new(move |_| {
        if chat.phase.get() == Phase::Asking {
            seen.set(Vec::new());
            record.set(None);
        }
    });
    watch(chat, tenant, seen);
    Effect::new(move |_| {
        let id = chat.request.get();
        if chat.phase.get() == Phase::Done && !id.is_empty() {
            spawn_local(async move { recorded(chat, id, record).await });
        }
    });
    let steps = live(move || steps(t, chat, seen, record));
    view! { <Card id="money" title=t.what_quota_does()><div data-chat="money">{steps}</div></Card> }
}

/// Looks at the freeze while it runs.
fn watch(chat: Chat, tenant: RwSignal<String>, seen: RwSignal<Vec<LiveFreeze>>) {
    let look = move || {
        let (tenant, request) = (tenant.get_untracked(), chat.request.get_untracked());
        let runs = matches!(chat.phase.get_untracked(), Phase::Asking | Phase::Streaming);
        if tenant.is_empty() || !runs {
            return;
        }
        spawn_local(async move {
            // Redis may be away; then there is nothing to see here, and the record tells all the same.
            let Ok(freezes) = live_api::freezes(&tenant).await else { return };
            let ours = freezes.items.into_iter().find(|freeze| freeze.request_id.to_string() == request);
            let _ = seen.try_update(|seen| {
                if let Some(freeze) = ours
                    && seen.last().is_none_or(|last| last.amount != freeze.amount || last.progress != freeze.progress)
                {
                    seen.retain(|old| old.amount != freeze.amount);
                    seen.push(freeze);
                }
            });
        });
    };
    if let Ok(handle) = set_interval_with_handle(look, LOOK) {
        on_cleanup(move || handle.clear());
    }
}

/// Waits for the request's record, which follows the answer's end.
async fn recorded(chat: Chat, id: String, record: RwSignal<Option<Box<Request>>>) {
    for _ in 0..TRIES {
        match requests::one(&id).await {
            Ok(found) => {
                if chat.request.try_get_untracked().as_ref() == Some(&id) {
                    let _ = record.try_set(Some(Box::new(found)));
                }
                return;
            }
            Err(_) if chat.request.try_get_untracked().as_ref() != Some(&id) => return,
            Err(_) => crate::browser::wait(LOOK).await,
        }
    }
}

fn line(tone: Tone, name: String, value: AnyView, about: String) -> AnyView {
    view! {
        <li>
            <div class="spread"><Badge tone=tone text=name plain=true/><span class="num strong">{value}</span></div>
            {(!about.is_empty()).then(|| view! { <span class="small muted">{about}</span> })}
        </li>
    }
    .into_any()
}

fn amount(value: &str) -> AnyView {
    view! { <Exact text=value.to_owned()/> }.into_any()
}

fn steps(t: Language, chat: Chat, seen: RwSignal<Vec<LiveFreeze>>, record: RwSignal<Option<Box<Request>>>) -> AnyView {
    let phase = chat.phase.get();
    if phase == Phase::Idle {
        return view! { <p class="card-body small muted">{t.money_hint()}</p> }.into_any();
    }
    let mut lines = Vec::new();
    let (_, first, ended) = chat.times.get();
    for (index, freeze) in seen.get().into_iter().enumerate() {
        let name = if index == 0 { t.quota_set_aside() } else { t.extended() };
        lines.push(line(
            Tone::Live,
            name.to_owned(),
            amount(freeze.amount.as_str()),
            t.so_far_of(&format::exact(freeze.progress.as_str())),
        ));
    }
    if let Some(first) = first {
        lines.push(line(Tone::Live, t.first_byte().to_owned(), text(format::seconds(first)), String::new()));
    }
    if let Some(ended) = ended {
        lines.push(line(Tone::Neutral, t.answer_ended().to_owned(), text(format::seconds(ended)), String::new()));
    }
    let found = record.get();
    if phase == Phase::Done && found.is_none() {
        lines.push(line(Tone::Live, t.settling().to_owned(), text("…"), String::new()));
    }
    let whole = found.map(|request| settled(t, &request));
    view! { <ul class="items">{lines}</ul>{whole} }.into_any()
}

/// What the record says.
fn settled(t: Language, request: &Request) -> AnyView {
    let id = request.request_id.to_string();
    let tokens = usage_of(request).map(|usage| format::count(usage.total_tokens())).unwrap_or_default();
    let rows = vec![
        (t.estimate_first(), amount(request.estimate.as_str())),
        (t.frozen_at_most(), amount(request.freeze.as_str())),
        (t.extensions_word(), text(format::integer(request.extensions.into()))),
        (t.tokens(), text(tokens)),
        (t.charge(), view! { <span data-figure="charge">{amount(request.charge.as_str())}</span> }.into_any()),
        (t.request(), view! { <a href=format!("/requests/{id}")>{mono(format::short_id(&id))}</a> }.into_any()),
    ];
    view! {
        <div class="card-body stack">
            <div><Badge tone=Tone::Ok text=t.settled_and_recorded() plain=true/></div>
            <Kv rows=rows/>
        </div>
    }
    .into_any()
}
