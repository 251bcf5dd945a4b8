//! Tenants and their numbers.

use api_types::grant::{GrantShare, TenantQuota};
use api_types::tenant::{ChangeTenant, CreateTenant, Reason, Tenant};
use api_types::{Decimal, Page};

use super::call::{Call, Failure, listed, part};
use crate::json;

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

/// What stands beside the numbers of a [`TenantQuota`].
#[derive(serde::Deserialize)]
struct MadeOf {
    grants: Vec<GrantShare>,
    in_tranches: Decimal,
}

/// One page of tenants.
///
/// # Errors
/// As every call.
pub async fn list(query: &TenantQuery) -> Result<Page<Tenant>, Failure> {
    let limit = query.limit.to_string();
    let parameters = [
        ("limit", limit.as_str()),
        ("q", &query.q),
        ("sort", &query.sort),
        ("status", &query.status),
        ("cursor", &query.cursor),
    ];
    Call::get(listed("/tenants", &parameters)).page().await
}

/// One tenant.
///
/// # Errors
/// `not_found` for a foreign or unknown one.
pub async fn one(id: &str) -> Result<Tenant, Failure> {
    Call::get(format!("/tenants/{}", part(id))).read().await
}

/// A tenant's four numbers and the grants in force in the order in which they are spent.
///
/// # Errors
/// As every call.
pub async fn quota(id: &str) -> Result<TenantQuota, Failure> {
    let (status, value) = Call::get(format!("/tenants/{}/quota", part(id))).value().await?;
    // In two steps: the derived reader of a struct with another one's fields among its own is large.
    let read = json::reread::<MadeOf>(&value).zip(json::reread(&value));
    let (MadeOf { grants, in_tranches }, numbers) = read.ok_or(Failure::Unreadable { status })?;
    Ok(TenantQuota { numbers, grants, in_tranches })
}

/// Creates a tenant; `key` makes it happen once.
///
/// # Errors
/// The fields that were refused; `already_exists` for a used external id.
pub async fn create(tenant: &CreateTenant, key: &str) -> Result<Tenant, Failure> {
    Call::post("/tenants").json(tenant).idempotent(key).read().await
}

/// Changes a tenant.
///
/// # Errors
/// The fields that were refused; `precondition_failed` where it was changed meanwhile.
pub async fn change(id: &str, version: i64, change: &ChangeTenant) -> Result<Tenant, Failure> {
    Call::patch(format!("/tenants/{}", part(id))).json(change).on_version(version).read().await
}

/// Suspends a tenant, or lets it go on.
///
/// # Errors
/// As every call.
pub async fn set_suspended(id: &str, suspended: bool, why: &Reason) -> Result<Tenant, Failure> {
    let verb = if suspended { "suspend" } else { "resume" };
    Call::post(format!("/tenants/{}/{verb}", part(id))).json(why).read().await
}
