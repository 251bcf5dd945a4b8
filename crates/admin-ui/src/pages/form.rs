//! Sending a form: busy while under way, the failure kept for the fields, one idempotency key per content.

use std::future::Future;
use std::pin::Pin;
use std::str::FromStr;

use api_types::{FieldError, Problem};
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde::Serialize;

use crate::api::Failure;
use crate::browser;
use crate::format;
use crate::session::Session;

/// What is done after a yes.
type Then = Box<dyn FnOnce()>;
type Work = Pin<Box<dyn Future<Output = Result<Then, Failure>>>>;

/// The state of a form.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// Why the last try failed.
    pub failure: RwSignal<Option<Failure>>,
    /// Under way.
    pub busy: RwSignal<bool>,
    /// The content last sent, and the key it was sent with.
    sent: StoredValue<(String, String)>,
}

impl Form {
    /// Untouched.
    #[must_use]
    pub fn new() -> Self {
        Self {
            failure: RwSignal::new(None),
            busy: RwSignal::new(false),
            sent: StoredValue::new((String::new(), String::new())),
        }
    }

    /// The idempotency key of this content: the same when the same is sent again, so that a lost answer can be asked for
    /// once more without acting twice; another when something was changed.
    pub fn key_for<B: Serialize>(self, body: &B) -> String {
        let content = serde_json::to_string(body).unwrap_or_default();
        let (before, key) = self.sent.get_value();
        if before == content && !key.is_empty() {
            return key;
        }
        // Without randomness the key is empty and the API asks for one; nothing is done twice.
        let key = browser::random_token().unwrap_or_default();
        self.sent.set_value((content, key.clone()));
        key
    }

    /// Refuses fields before anything is sent, as the API would.
    pub fn refuse(self, fields: Vec<FieldError>) {
        let problem = Problem {
            r#type: "about:blank".to_owned(),
            title: String::new(),
            status: 422,
            code: "invalid_field".to_owned(),
            detail: String::new(),
            request_id: String::new(),
            errors: fields,
            more: serde_json::Map::new(),
        };
        self.failure.set(Some(Failure::Problem(Box::new(problem))));
    }

    /// Sends once: a second press while under way does nothing. `done` runs after the server said yes.
    pub fn send<T: 'static>(
        self,
        call: impl Future<Output = Result<T, Failure>> + 'static,
        done: impl FnOnce(T) + 'static,
    ) {
        // One way of sending for all types of replies, not one compiled for each.
        self.run(Box::pin(async move { call.await.map(|value| -> Then { Box::new(move || done(value)) }) }));
    }

    fn run(self, work: Work) {
        if self.busy.get_untracked() {
            return;
        }
        self.busy.set(true);
        self.failure.set(None);
        let session = use_context::<Session>();
        spawn_local(async move {
            let answer = work.await;
            // The form may be gone from the page; what was done is done.
            let _ = self.busy.try_set(false);
            match answer {
                Ok(then) => then(),
                Err(failure) => {
                    if let Some(session) = session {
                        session.note(&failure);
                    }
                    let _ = self.failure.try_set(Some(failure));
                }
            }
        });
    }
}

impl Default for Form {
    fn default() -> Self {
        Self::new()
    }
}

/// Whole numbers that were typed: what is none is refused at its field, before anything is sent.
#[derive(Debug, Default)]
pub struct Whole(Vec<FieldError>);

impl Whole {
    /// Reads one; `None` where nothing was typed or it was refused.
    pub fn read<T: FromStr>(&mut self, field: &str, value: RwSignal<String>) -> Option<T> {
        let text = format::typed_amount(&filled(value)?);
        let read = text.parse().ok();
        if read.is_none() {
            self.refuse(field, "not_number");
        }
        read
    }

    /// Reads one that is needed.
    pub fn need<T: FromStr + Default>(&mut self, field: &str, value: RwSignal<String>) -> T {
        if filled(value).is_none() {
            self.refuse(field, "required");
        }
        self.read(field, value).unwrap_or_default()
    }

    /// Refuses a field.
    pub fn refuse(&mut self, field: &str, code: &str) {
        self.0.push(FieldError { field: field.to_owned(), code: code.to_owned(), message: code.to_owned() });
    }

    /// True where nothing was refused; else the form says what was.
    #[must_use]
    pub fn fits(self, form: Form) -> bool {
        let fits = self.0.is_empty();
        if !fits {
            form.refuse(self.0);
        }
        fits
    }
}

/// A field that begins with something.
pub fn typed(text: impl Into<String>) -> RwSignal<String> {
    RwSignal::new(text.into())
}

/// The lines of a field, without blank ones; `None` where there are none.
#[must_use]
pub fn lines(value: RwSignal<String>) -> Option<Vec<String>> {
    let text = value.get_untracked();
    let lines: Vec<String> =
        text.split(['\n', ',', ' ']).map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect();
    (!lines.is_empty()).then_some(lines)
}

/// The text of a field without spaces around it; `None` where nothing is left.
#[must_use]
pub fn filled(value: RwSignal<String>) -> Option<String> {
    let text = value.get_untracked().trim().to_owned();
    (!text.is_empty()).then_some(text)
}
