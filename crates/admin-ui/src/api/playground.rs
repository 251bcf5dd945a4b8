//! A chat through the admin API: what the gateway streams, piece by piece.

use gloo_net::http::RequestBuilder;
use js_sys::{Function, Promise, Reflect, Uint8Array};
use serde_json::Value;
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;

use super::call::{Call, Failure, refusal};

/// An answer on its way.
pub struct Answer {
    /// The gateway's id of the request.
    pub request_id: Option<String>,
    /// Reads the body.
    reader: JsValue,
}

/// Sends a chat and waits for the answer's head.
///
/// # Errors
/// `gateway_refused` with the gateway's own words; the field that was refused; as every call.
pub async fn chat(body: &Value) -> Result<Answer, Failure> {
    // A session that has run out is refreshed before the chat, which is not sent twice.
    Call::get("/session").done().await?;
    let builder = RequestBuilder::new("/api/v1/playground/chat").method(gloo_net::http::Method::POST);
    let builder = builder.header("X-Tollgate-Csrf", "1").header("Content-Type", "application/json");
    let text = serde_json::to_string(body).unwrap_or_default();
    let request = builder.body(text).map_err(|_| Failure::Unreachable)?;
    let response = request.send().await.map_err(|_| Failure::Unreachable)?;
    if !response.ok() {
        let status = response.status();
        let text = response.text().await.map_err(|_| Failure::Unreachable)?;
        return Err(refusal(status, &text));
    }
    let request_id = response.headers().get("x-gateway-request-id");
    let stream = response.body().ok_or(Failure::Unreachable)?;
    let reader = method(&stream, "getReader").ok_or(Failure::Unreachable)?;
    Ok(Answer { request_id, reader })
}

impl Answer {
    /// The next piece; `None` at the end.
    ///
    /// # Errors
    /// The answer broke off.
    pub async fn next(&self) -> Result<Option<Vec<u8>>, Failure> {
        let promise = method(&self.reader, "read").ok_or(Failure::Unreachable)?;
        let read = JsFuture::from(Promise::resolve(&promise)).await.map_err(|_| Failure::Unreachable)?;
        let field = |name: &str| Reflect::get(&read, &name.into()).unwrap_or(JsValue::UNDEFINED);
        if field("done").is_truthy() {
            return Ok(None);
        }
        Ok(Some(Uint8Array::new(&field("value")).to_vec()))
    }

    /// Wants no more of it: the gateway then ends the call.
    pub fn stop(&self) {
        // A reader that has ended refuses, which is as good.
        let _ = method(&self.reader, "cancel");
    }
}

/// Calls a method without arguments.
fn method(of: &JsValue, name: &str) -> Option<JsValue> {
    let function = Reflect::get(of, &name.into()).ok()?.dyn_into::<Function>().ok()?;
    function.call0(of).ok()
}
