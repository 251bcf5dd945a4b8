//! One call: JSON in and out, the session's cookie, one refresh where it has run out.

use std::cell::RefCell;

use api_types::Problem;
use gloo_net::http::{Method, Request, RequestBuilder, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::{JsFuture, future_to_promise};

use crate::browser;

/// Every path of the API begins so.
const BASE: &str = "/api/v1";

/// A path's variable part, safe whatever it holds.
#[must_use]
pub fn part(text: &str) -> String {
    js_sys::encode_uri_component(text).into()
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

    /// True where the call needs a person who is signed in, and nobody is.
    #[must_use]
    pub fn is_signed_out(&self) -> bool {
        matches!(self, Self::Problem(problem) if problem.status == 401)
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
        let response = self.send().await?;
        let status = response.status();
        let text = response.text().await.map_err(|_| Failure::Unreachable)?;
        serde_json::from_str(&text).map_err(|_| Failure::Unreadable { status })
    }

    /// Sends it where the reply's body does not matter.
    ///
    /// # Errors
    /// Says whether the API refused, was away, or answered something else.
    pub async fn done(self) -> Result<(), Failure> {
        self.send().await.map(drop)
    }

    async fn send(&self) -> Result<Response, Failure> {
        let response = self.once().await?;
        if response.status() != 401 || !self.refreshes || !refresh().await {
            return checked(response).await;
        }
        checked(self.once().await?).await
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

async fn checked(response: Response) -> Result<Response, Failure> {
    if response.ok() {
        return Ok(response);
    }
    let status = response.status();
    let text = response.text().await.map_err(|_| Failure::Unreachable)?;
    let problem = serde_json::from_str::<Problem>(&text).map_err(|_| Failure::Unreadable { status })?;
    Err(Failure::Problem(Box::new(problem)))
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
pub fn numbers(value: &serde_json::Value) -> Option<api_types::Numbers> {
    let mut whole = serde_json::json!({
        "unit": "credit", "total": null, "used": "0", "frozen": "0", "remaining": null, "refunded": "0", "debt": "0",
        "overdraft": { "enabled": false, "limit": "0", "used": "0", "remaining": "0" }, "period": null, "resets_at": null,
        "version": 0, "as_of": "1970-01-01T00:00:00Z",
    });
    let (serde_json::Value::Object(whole_fields), serde_json::Value::Object(given)) = (&mut whole, value) else {
        return None;
    };
    whole_fields.extend(given.clone());
    serde_json::from_value(whole).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_may_carry_a_part_of_the_numbers() {
        let given = serde_json::json!({ "unit": "credit", "total": "10.00000000", "used": "9.00000000",
            "frozen": "0.50000000", "remaining": "0.50000000", "version": 7 });
        let read = numbers(&given).unwrap();
        assert_eq!((read.remaining.unwrap().as_str(), read.version), ("0.50000000", 7));
        assert!(numbers(&serde_json::json!("none")).is_none());
    }
}
