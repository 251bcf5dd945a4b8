//! API keys of a project.

use api_types::Page;
use api_types::key::{CreateKey, Key};

use super::call::{Call, Failure};

/// Keys of a project.
///
/// # Errors
/// As every call.
pub async fn list(project: &str) -> Result<Page<Key>, Failure> {
    Call::get(format!("/projects/{}/keys?limit=200", js_sys::encode_uri_component(project))).read().await
}

/// Creates a key. Its secret is in this reply and nowhere else.
///
/// # Errors
/// The fields that were refused.
pub async fn create(project: &str, key: &CreateKey, once: &str) -> Result<Key, Failure> {
    let path = format!("/projects/{}/keys", js_sys::encode_uri_component(project));
    Call::post(path).json(key).idempotent(once).read().await
}
