//! API keys of a project.

use api_types::Page;
use api_types::key::{ChangeKey, CreateKey, Key, RotateSecret};
use api_types::tenant::Reason;
use api_types::webhook::RotatedSecret;

use super::call::{Call, Failure, part};

/// Keys of a project.
///
/// # Errors
/// As every call.
pub async fn list(project: &str) -> Result<Page<Key>, Failure> {
    Call::get(format!("/projects/{}/keys?limit=200", part(project))).read().await
}

/// Creates a key. Its secret is in this reply and nowhere else.
///
/// # Errors
/// The fields that were refused.
pub async fn create(project: &str, key: &CreateKey, once: &str) -> Result<Key, Failure> {
    let path = format!("/projects/{}/keys", part(project));
    Call::post(path).json(key).idempotent(once).read().await
}

/// One key, with the present use of its limits.
///
/// # Errors
/// `not_found` for a foreign, unknown or deleted one.
pub async fn one(id: &str) -> Result<Key, Failure> {
    Call::get(format!("/keys/{}", part(id))).read().await
}

/// Changes a key.
///
/// # Errors
/// The fields that were refused; `precondition_failed` where it was changed meanwhile.
pub async fn change(id: &str, version: i64, change: &ChangeKey) -> Result<Key, Failure> {
    Call::patch(format!("/keys/{}", part(id))).json(change).on_version(version).read().await
}

/// Enables or disables a key.
///
/// # Errors
/// As every call.
pub async fn set_enabled(id: &str, enabled: bool, why: &Reason) -> Result<Key, Failure> {
    let verb = if enabled { "enable" } else { "disable" };
    Call::post(format!("/keys/{}/{verb}", part(id))).json(why).read().await
}

/// Deletes a key for good.
///
/// # Errors
/// As every call.
pub async fn delete(id: &str) -> Result<(), Failure> {
    Call::delete(format!("/keys/{}", part(id))).done().await
}

/// Gives the key another secret, which is in this reply and nowhere else.
///
/// # Errors
/// As every call.
pub async fn rotate(id: &str, how: &RotateSecret) -> Result<RotatedSecret, Failure> {
    Call::post(format!("/keys/{}/rotate", part(id))).json(how).read().await
}
