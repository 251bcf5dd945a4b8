//! Grants of a tenant.

use api_types::Page;
use api_types::grant::{CreateGrant, Grant};
use api_types::tenant::Reason;

use super::call::{Call, Failure, part};

/// Grants of a tenant, newest first.
///
/// # Errors
/// As every call.
pub async fn list(tenant: &str) -> Result<Page<Grant>, Failure> {
    Call::get(format!("/tenants/{}/grants?limit=200", part(tenant))).read().await
}

/// Adds a grant; `key` makes it happen once.
///
/// # Errors
/// The fields that were refused.
pub async fn create(tenant: &str, grant: &CreateGrant, key: &str) -> Result<Grant, Failure> {
    let path = format!("/tenants/{}/grants", part(tenant));
    Call::post(path).json(grant).idempotent(key).read().await
}

/// Ends a grant now; `key` makes it happen once.
///
/// # Errors
/// A conflict where it is over already.
pub async fn end(grant: &str, why: &Reason, key: &str) -> Result<Grant, Failure> {
    Call::post(format!("/grants/{}/end", part(grant))).json(why).idempotent(key).read().await
}
