//! Webhook endpoints and their deliveries.

use api_types::Page;
use api_types::webhook::{ChangeWebhook, CreateWebhook, Delivery, Queued, Redeliver, RotatedSecret, TestSent, Webhook};

use super::call::{Call, Failure, listed, part};

fn path(id: &str) -> String {
    format!("/webhooks/{}", part(id))
}

/// Endpoints, newest first.
///
/// # Errors
/// As every call.
pub async fn list() -> Result<Page<Webhook>, Failure> {
    Call::get("/webhooks?limit=200").read().await
}

/// One endpoint.
///
/// # Errors
/// `not_found` for a foreign or unknown one.
pub async fn one(id: &str) -> Result<Webhook, Failure> {
    Call::get(path(id)).read().await
}

/// Adds an endpoint. Its secret is in this reply and nowhere else.
///
/// # Errors
/// The fields that were refused.
pub async fn create(webhook: &CreateWebhook) -> Result<Webhook, Failure> {
    Call::post("/webhooks").json(webhook).read().await
}

/// Changes an endpoint.
///
/// # Errors
/// The fields that were refused; `precondition_failed` where it was changed meanwhile.
pub async fn change(id: &str, version: i64, change: &ChangeWebhook) -> Result<Webhook, Failure> {
    Call::patch(path(id)).json(change).on_version(version).read().await
}

/// Removes an endpoint with its deliveries.
///
/// # Errors
/// As every call.
pub async fn delete(id: &str) -> Result<(), Failure> {
    Call::delete(path(id)).done().await
}

/// Makes another secret, which is in this reply and nowhere else.
///
/// # Errors
/// As every call.
pub async fn rotate(id: &str) -> Result<RotatedSecret, Failure> {
    Call::post(format!("{}/rotate-secret", path(id))).read().await
}

/// Sends a test event.
///
/// # Errors
/// A conflict where the endpoint is disabled.
pub async fn test(id: &str) -> Result<TestSent, Failure> {
    Call::post(format!("{}/test", path(id))).read().await
}

/// Enables an endpoint.
///
/// # Errors
/// As every call.
pub async fn enable(id: &str) -> Result<Webhook, Failure> {
    Call::post(format!("{}/enable", path(id))).read().await
}

/// Deliveries, newest first.
///
/// # Errors
/// As every call.
pub async fn deliveries(id: &str, state: &str, limit: &str, cursor: &str) -> Result<Page<Delivery>, Failure> {
    let path = format!("{}/deliveries", path(id));
    Call::get(listed(&path, &[("state", state), ("limit", limit), ("cursor", cursor)])).read().await
}

/// Delivers events again.
///
/// # Errors
/// A conflict where the endpoint is disabled.
pub async fn redeliver(id: &str, what: &Redeliver) -> Result<Queued, Failure> {
    Call::post(format!("{}/redeliver", path(id))).json(what).read().await
}
