//! One chat: what was typed, what came back, how far it is.

use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::{Value, json};

use crate::api::{Failure, playground};
use crate::browser;
use crate::i18n::Language;
use crate::pages::form::{Form, Whole, filled, typed};
use crate::session::Session;
use crate::sse::Events;

/// How far a chat is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Nothing was asked.
    Idle,
    /// Asked; no head yet.
    Asking,
    /// The answer comes.
    Streaming,
    /// It has ended.
    Done,
}

/// A chat. The key lives here, in the page's memory, and goes with the page.
#[derive(Clone, Copy)]
pub struct Chat {
    /// The API key that pays.
    pub key: RwSignal<String>,
    /// The model's name.
    pub model: RwSignal<String>,
    /// The longest answer in tokens; empty: the model's.
    pub most: RwSignal<String>,
    /// What is asked.
    pub message: RwSignal<String>,
    /// Whether the answer comes as it is made.
    pub stream: RwSignal<bool>,
    /// The answer so far.
    pub text: RwSignal<String>,
    /// How far it is.
    pub phase: RwSignal<Phase>,
    /// The gateway's id of it.
    pub request: RwSignal<String>,
    /// When it was asked, and how long until its first byte and its end, in milliseconds.
    pub times: RwSignal<(i64, Option<i64>, Option<i64>)>,
    /// It broke off.
    pub broken: RwSignal<bool>,
    /// Why it was refused.
    pub failure: RwSignal<Option<Failure>>,
    stopped: RwSignal<bool>,
    round: RwSignal<u64>,
    form: Form,
}

impl Chat {
    /// Nothing typed.
    #[must_use]
    pub fn new() -> Self {
        let form = Form::new();
        Self {
            key: typed(""),
            model: typed(""),
            most: typed(""),
            message: typed(""),
            stream: RwSignal::new(true),
            text: typed(""),
            phase: RwSignal::new(Phase::Idle),
            request: typed(""),
            times: RwSignal::new((0, None, None)),
            broken: RwSignal::new(false),
            failure: form.failure,
            stopped: RwSignal::new(false),
            round: RwSignal::new(0),
            form,
        }
    }

    /// Wants no more.
    pub fn stop(self) {
        self.stopped.set(true);
    }

    /// Asks.
    pub fn send(self, t: Language) {
        if matches!(self.phase.get_untracked(), Phase::Asking | Phase::Streaming) {
            return;
        }
        let Some(body) = self.body(t) else { return };
        self.failure.set(None);
        self.text.set(String::new());
        self.request.set(String::new());
        self.broken.set(false);
        self.stopped.set(false);
        self.times.set((browser::precise_ms(), None, None));
        self.round.update(|round| *round += 1);
        self.phase.set(Phase::Asking);
        let session = expect_context::<Session>();
        spawn_local(async move {
            match playground::chat(&body).await {
                Ok(answer) => self.read(answer).await,
                Err(failure) => {
                    session.note(&failure);
                    let _ = self.failure.try_set(Some(failure));
                    let _ = self.phase.try_set(Phase::Idle);
                }
            }
        });
    }

    fn body(self, _: Language) -> Option<Value> {
        let mut whole = Whole::default();
        let (key, message) = (filled(self.key), filled(self.message));
        for (field, value) in [("key", &key), ("messages", &message), ("model", &filled(self.model))] {
            if value.is_none() {
                whole.refuse(field, "required");
            }
        }
        let most: Option<u64> = whole.read("max_tokens", self.most);
        if !whole.fits(self.form) {
            return None;
        }
        let mut body = json!({
            "key": key, "model": filled(self.model), "stream": self.stream.get_untracked(),
            "messages": [{ "role": "user", "content": message }],
        });
        if let Some(most) = most {
            body["max_tokens"] = most.into();
        }
        Some(body)
    }

    /// Reads the answer to its end, until it is unwanted, or until the page is gone.
    async fn read(self, answer: playground::Answer) {
        let _ = self.request.try_set(answer.request_id.clone().unwrap_or_default());
        let _ = self.phase.try_set(Phase::Streaming);
        let (mut events, mut plain) = (Events::default(), Vec::new());
        let streams = self.stream.try_get_untracked().unwrap_or(true);
        loop {
            // Gone from the page, or stopped by hand.
            if self.stopped.try_get_untracked() != Some(false) {
                answer.stop();
                break;
            }
            match answer.next().await {
                Ok(Some(piece)) => {
                    self.mark(|times, now| times.1 = times.1.or(Some(now)));
                    if streams {
                        events.take(&piece).iter().for_each(|data| self.add(data));
                    } else {
                        plain.extend(piece);
                    }
                }
                Ok(None) => break,
                Err(_) => {
                    let _ = self.broken.try_set(true);
                    break;
                }
            }
        }
        if !streams {
            self.add(&String::from_utf8_lossy(&plain));
        }
        self.mark(|times, now| times.2 = Some(now));
        let _ = self.phase.try_set(Phase::Done);
    }

    fn mark(self, set: impl FnOnce(&mut (i64, Option<i64>, Option<i64>), i64)) {
        let now = browser::precise_ms();
        let _ = self.times.try_update(|times| {
            let since = now - times.0;
            set(times, since);
        });
    }

    /// Adds what one event says.
    fn add(self, data: &str) {
        let Ok(event) = serde_json::from_str::<Value>(data) else { return };
        let said = event.pointer("/choices/0/delta/content").or_else(|| event.pointer("/choices/0/message/content"));
        if let Some(said) = said.and_then(Value::as_str) {
            let _ = self.text.try_update(|text| text.push_str(said));
        }
        if event.get("error").is_some() {
            let _ = self.broken.try_set(true);
        }
    }
}
