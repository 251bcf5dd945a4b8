//! Tenants and their numbers.

use api_types::Page;
use api_types::grant::TenantQuota;
use api_types::tenant::{CreateTenant, Tenant};

use super::call::{Call, Failure};

/// What a list of tenants is asked for; empty means everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TenantQuery {
    /// Part of name, id or external id.
    pub q: String,
    /// `remaining_percent`, `-used`, `name`...
    pub sort: String,
    /// `active`, `suspended`, `closed`.
    pub status: String,
    /// Entries a page.
    pub limit: u16,
    /// Where the page begins.
    pub cursor: String,
}

/// One page of tenants.
///
/// # Errors
/// As every call.
pub async fn list(query: &TenantQuery) -> Result<Page<Tenant>, Failure> {
    let mut path = format!("/tenants?limit={}", query.limit);
    for (name, value) in [("q", &query.q), ("sort", &query.sort), ("status", &query.status), ("cursor", &query.cursor)]
    {
        if !value.is_empty() {
            path.push_str(&format!("&{name}={}", js_sys::encode_uri_component(value)));
        }
    }
    Call::get(path).read().await
}

/// One tenant.
///
/// # Errors
/// `not_found` for a foreign or unknown one.
pub async fn one(id: &str) -> Result<Tenant, Failure> {
    Call::get(format!("/tenants/{}", js_sys::encode_uri_component(id))).read().await
}

/// A tenant's four numbers and the grants in force in the order in which they are spent.
///
/// # Errors
/// As every call.
pub async fn quota(id: &str) -> Result<TenantQuota, Failure> {
    Call::get(format!("/tenants/{}/quota", js_sys::encode_uri_component(id))).read().await
}

/// Creates a tenant; `key` makes it happen once.
///
/// # Errors
/// The fields that were refused; `already_exists` for a used external id.
pub async fn create(tenant: &CreateTenant, key: &str) -> Result<Tenant, Failure> {
    Call::post("/tenants").json(tenant).idempotent(key).read().await
}
