//! Calls of the admin API.

use std::time::Duration;

use anyhow::{Context, ensure};
use serde_json::Value;
use testkit::http;

/// The admin API with a service token.
#[derive(Debug)]
pub struct Admin<'a> {
    base: &'a str,
    authorization: String,
}

impl<'a> Admin<'a> {
    /// `base` is the server's URL without a path.
    pub fn new(base: &'a str, token: &str) -> Self {
        Self { base, authorization: format!("Bearer {token}") }
    }

    /// A `GET`; the path comes after `/api/v1`.
    ///
    /// # Errors
    /// When the answer is not 2xx; with its body.
    pub fn get(&self, path: &str) -> anyhow::Result<Value> {
        self.send("GET", path, None, None)
    }

    /// A `POST`.
    ///
    /// # Errors
    /// When the answer is not 2xx; with its body.
    pub fn post(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        self.send("POST", path, None, Some(body))
    }

    /// A `POST` that is done once however often it is repeated with the same key.
    ///
    /// # Errors
    /// When the answer is not 2xx; with its body.
    pub fn post_once(&self, path: &str, key: &str, body: &Value) -> anyhow::Result<Value> {
        self.send("POST", path, Some(key), Some(body))
    }

    fn send(&self, method: &str, path: &str, key: Option<&str>, body: Option<&Value>) -> anyhow::Result<Value> {
        let url = format!("{}/api/v1{path}", self.base);
        let mut headers = vec![("authorization", self.authorization.as_str())];
        if let Some(key) = key {
            headers.push(("idempotency-key", key));
        }
        let body = body.map(Value::to_string);
        let response = http::request(method, &url, &headers, body.as_deref(), Duration::from_secs(30))?;
        let text = response.text();
        ensure!((200..300).contains(&response.status), "{method} {url} answered {}: {text}", response.status);
        if text.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_str(&text).with_context(|| format!("{method} {url} answered no JSON: {text}"))
    }
}

/// A field of an answer that has to be a text.
///
/// # Errors
/// When it is not there.
pub fn text(value: &Value, field: &str) -> anyhow::Result<String> {
    let text = value.get(field).and_then(Value::as_str);
    Ok(text.with_context(|| format!("the answer has no `{field}`: {value}"))?.to_owned())
}
