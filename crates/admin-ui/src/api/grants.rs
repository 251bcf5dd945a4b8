//! Grants of a tenant.

use api_types::Page;
use api_types::grant::{CreateGrant, Grant};

use super::call::{Call, Failure};

/// Grants of a tenant, newest first.
///
/// # Errors
/// As every call.
pub async fn list(tenant: &str) -> Result<Page<Grant>, Failure> {
    Call::get(format!("/tenants/{}/grants?limit=200", js_sys::encode_uri_component(tenant))).read().await
}

/// Adds a grant; `key` makes it happen once.
///
/// # Errors
/// The fields that were refused.
pub async fn create(tenant: &str, grant: &CreateGrant, key: &str) -> Result<Grant, Failure> {
    let path = format!("/tenants/{}/grants", js_sys::encode_uri_component(tenant));
    Call::post(path).json(grant).idempotent(key).read().await
}
