//! One call: JSON in and out, the session's cookie, one refresh where it has run out.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;

use api_types::{Page, Problem};
use gloo_net::http::{Method, Request, RequestBuilder, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::{JsFuture, future_to_promise};

use crate::browser;
use crate::json;

/// Every path of the API begins so.
const BASE: &str = "/api/v1";

/// A reply on its way: its status and text.
type Replied = Pin<Box<dyn Future<Output = Result<(u16, String), Failure>>>>;

/// A path's variable part, safe whatever it holds.
#[must_use]
pub fn part(text: &str) -> String {
    browser::encoded(text)
}

/// A list's path with the parameters that are not empty.
#[must_use]
pub fn listed(path: &str, parameters: &[(&str, &str)]) -> String {
    let mut whole = path.to_owned();
    let mut mark = '?';
    for (name, value) in parameters.iter().filter(|(_, value)| !value.is_empty()) {
        whole.push(mark);
        whole.push_str(name);
        whole.push('=');
        whole.push_str(&part(value));
        mark = '&';
    }
    whole
}
/// A header that no foreign page can send without being asked: the API's answer to cross-site calls.
const CSRF: (&str, &str) = ("X-Tollgate-Csrf", "1");

/// Why a call gave nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The API said why.
    Problem(Box<Problem>),
    /// No answer: the network or the service is away.
    Unreachable,
    /// An answer that is no JSON of the wanted form: another version, or something in between.
    Unreadable {
        /// Its HTTP status.
        status: u16,
    },
}

impl Failure {
    /// The problem's code, where the API sent one.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Problem(problem) => Some(&problem.code),
            _ => None,
        }
    }

    /// True where the call needs a person who is signed in, and nobody is; what was typed or linked being wrong is another 401.
    #[must_use]
    pub fn is_signed_out(&self) -> bool {
        matches!(self, Self::Problem(problem) if problem.status == 401 && problem.code != "bad_credentials")
    }

    /// True where what was typed or linked is wrong, or over.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.code() == Some("bad_credentials")
    }
}

/// A call to be sent, and sent again after a refresh.
#[derive(Debug, Clone)]
pub struct Call {
    method: Method,
    path: String,
    body: Option<String>,
    idempotency_key: Option<String>,
    version: Option<i64>,
    refreshes: bool,
}

impl Call {
    fn new(method: Method, path: impl AsRef<str>) -> Self {
        let path = format!("{BASE}{}", path.as_ref());
        Self { method, path, body: None, idempotency_key: None, version: None, refreshes: true }
    }

    /// Reads.
    pub fn get(path: impl AsRef<str>) -> Self {
        Self::new(Method::GET, path)
    }

    /// Creates or acts.
    pub fn post(path: impl AsRef<str>) -> Self {
        Self::new(Method::POST, path)
    }

    /// Changes.
    pub fn patch(path: impl AsRef<str>) -> Self {
        Self::new(Method::PATCH, path)
    }

    /// Sets.
    pub fn put(path: impl AsRef<str>) -> Self {
        Self::new(Method::PUT, path)
    }

    /// Removes.
    pub fn delete(path: impl AsRef<str>) -> Self {
        Self::new(Method::DELETE, path)
    }

    /// With a JSON body. Wire types always serialise; one that did not would be refused by the API as empty.
    #[must_use]
    pub fn json<B: Serialize>(mut self, body: &B) -> Self {
        self.body = serde_json::to_string(body).ok();
        self
    }

    /// With an idempotency key: sent twice, it acts once.
    #[must_use]
    pub fn idempotent(mut self, key: &str) -> Self {
        self.idempotency_key = Some(key.to_owned());
        self
    }

    /// Only on this version of the resource: a change that somebody else made meanwhile is not overwritten.
    #[must_use]
    pub fn on_version(mut self, version: i64) -> Self {
        self.version = Some(version);
        self
    }

    /// For signing in and out: a 401 is an answer there, not a reason to refresh.
    #[must_use]
    pub fn without_refresh(mut self) -> Self {
        self.refreshes = false;
        self
    }

    /// Sends it and reads the reply's JSON.
    ///
    /// # Errors
    /// Says whether the API refused, was away, or answered something else.
    pub async fn read<T: DeserializeOwned>(self) -> Result<T, Failure> {
        let (status, value) = self.value().await?;
        json::reread(&value).ok_or(Failure::Unreadable { status })
    }

    /// Sends it and reads a page of a list, entry by entry: what surrounds the entries is compiled once for all lists.
    ///
    /// # Errors
    /// Says whether the API refused, was away, or answered something else.
    pub async fn page<T: DeserializeOwned>(self) -> Result<Page<T>, Failure> {
        let (status, value) = self.value().await?;
        json::page(&value).ok_or(Failure::Unreadable { status })
    }

    /// Sends it and reads the reply's JSON as a value, with the reply's status.
    ///
    /// # Errors
    /// Says whether the API refused, was away, or answered something else.
    pub async fn value(self) -> Result<(u16, Value), Failure> {
        let (status, text) = self.text().await?;
        let value = serde_json::from_str(&text).map_err(|_| Failure::Unreadable { status })?;
        Ok((status, value))
    }

    /// Sends it where the reply's body does not matter.
    ///
    /// # Errors
    /// Says whether the API refused, was away, or answered something else.
    pub async fn done(self) -> Result<(), Failure> {
        self.text().await.map(drop)
    }

    /// Sends it: the reply's status and text. Boxed, so that it is compiled once and not into every call.
    fn text(self) -> Replied {
        Box::pin(async move {
            let mut response = self.once().await?;
            if response.status() == 401 && self.refreshes && refresh().await {
                response = self.once().await?;
            }
            let status = response.status();
            let text = response.text().await.map_err(|_| Failure::Unreachable)?;
            if response.ok() { Ok((status, text)) } else { Err(problem(status, &text)) }
        })
    }

    async fn goes_through(&self) -> bool {
        self.once().await.is_ok_and(|response| response.ok())
    }

    async fn once(&self) -> Result<Response, Failure> {
        let mut builder =
            RequestBuilder::new(&self.path).method(self.method.clone()).header("Accept", "application/json");
        if self.method != Method::GET {
            builder = builder.header(CSRF.0, CSRF.1);
        }
        if let Some(key) = &self.idempotency_key {
            builder = builder.header("Idempotency-Key", key);
        }
        if let Some(version) = self.version {
            builder = builder.header("If-Match", &format!("\"{version}\""));
        }
        let request: Result<Request, _> = match &self.body {
            Some(body) => builder.header("Content-Type", "application/json").body(body),
            None => builder.build(),
        };
        request.map_err(|_| Failure::Unreachable)?.send().await.map_err(|_| Failure::Unreachable)
    }
}

/// A refusal of a call that this module did not send.
#[must_use]
pub fn refusal(status: u16, text: &str) -> Failure {
    problem(status, text)
}

/// Why the API refused. Field by field: the derived reader of a struct that keeps what it does not know is large.
fn problem(status: u16, text: &str) -> Failure {
    let read = || {
        let Value::Object(mut more) = serde_json::from_str(text).ok()? else { return None };
        let mut word = |name: &str| more.remove(name).and_then(|value| value.as_str().map(str::to_owned));
        let (code, detail, title, r#type) = (word("code")?, word("detail"), word("title"), word("type"));
        let request_id = word("request_id");
        more.remove("status");
        let errors = more.remove("errors").and_then(|errors| json::reread(&errors)).unwrap_or_default();
        let [r#type, title, detail, request_id] = [r#type, title, detail, request_id].map(Option::unwrap_or_default);
        Some(Problem { r#type, title, status, code, detail, request_id, errors, more })
    };
    read().map_or(Failure::Unreadable { status }, |problem| Failure::Problem(Box::new(problem)))
}

thread_local! {
    /// The refresh that is under way. The refresh token is good for one use, so calls that find the session run out at the
    /// same time must share one refresh: a second use would end the whole session.
    static REFRESHING: RefCell<Option<js_sys::Promise>> = const { RefCell::new(None) };
}

/// Rotates the session; true where it goes on.
async fn refresh() -> bool {
    let running = REFRESHING.with_borrow_mut(|slot| {
        slot.get_or_insert_with(|| {
            future_to_promise(async {
                // Other tabs share the cookie, so they take turns, too.
                let went_on = browser::in_turn("tollgate.refresh", rotate()).await;
                REFRESHING.with_borrow_mut(Option::take);
                Ok(JsValue::from_bool(went_on))
            })
        })
        .clone()
    });
    JsFuture::from(running).await.is_ok_and(|went_on| went_on.is_truthy())
}

/// Another tab may have rotated while this one waited for its turn; then there is nothing left to do.
async fn rotate() -> bool {
    Call::get("/session").goes_through().await || Call::post("/session/refresh").goes_through().await
}

/// The numbers that a refusal carries; it leaves out what did not matter to it.
#[must_use]
pub fn numbers(value: &Value) -> Option<api_types::Numbers> {
    let mut whole = serde_json::json!({
        "unit": "credit", "total": null, "used": "0", "frozen": "0", "remaining": null, "refunded": "0", "debt": "0",
        "overdraft": { "enabled": false, "limit": "0", "used": "0", "remaining": "0" }, "period": null, "resets_at": null,
        "version": 0, "as_of": "1970-01-01T00:00:00Z",
    });
    let (Value::Object(whole_fields), Value::Object(given)) = (&mut whole, value) else {
        return None;
    };
    whole_fields.extend(given.clone());
    json::reread(&whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_keeps_what_it_does_not_know() {
        let text = r#"{"type":"about:blank","title":"Conflict","status":409,"code":"already_exists","detail":"taken",
            "request_id":"r","errors":[{"field":"name","code":"taken","message":"taken"}],"tenant_id":"t_1"}"#;
        let Failure::Problem(read) = problem(409, text) else { panic!("unreadable") };
        assert_eq!((read.code.as_str(), read.errors[0].field.as_str()), ("already_exists", "name"));
        assert_eq!(read.more.get("tenant_id").and_then(Value::as_str), Some("t_1"));
        assert_eq!(problem(502, "<html>"), Failure::Unreadable { status: 502 });
    }

    #[test]
    fn a_refusal_may_carry_a_part_of_the_numbers() {
        let given = serde_json::json!({ "unit": "credit", "total": "10.00000000", "used": "9.00000000",
            "frozen": "0.50000000", "remaining": "0.50000000", "version": 7 });
        let read = numbers(&given).unwrap();
        assert_eq!((read.remaining.unwrap().as_str(), read.version), ("0.50000000", 7));
        assert!(numbers(&serde_json::json!("none")).is_none());
    }
}
