//! Both copies of a tenant's books, and its running freezes.

use api_types::live::{FreezeRolledBack, Live, LiveFreezes, Rebuild, Rebuilt};
use api_types::tenant::Reason;

use super::call::{Call, Failure, part};

/// Both copies of a tenant's accounts.
///
/// # Errors
/// `unavailable` where Redis is away.
pub async fn read(tenant: &str) -> Result<Live, Failure> {
    Call::get(format!("/tenants/{}/live", part(tenant))).read().await
}

/// The running freezes.
///
/// # Errors
/// `unavailable` where Redis is away.
pub async fn freezes(tenant: &str) -> Result<LiveFreezes, Failure> {
    Call::get(format!("/tenants/{}/freezes", part(tenant))).read().await
}

/// Ends a freeze without a charge.
///
/// # Errors
/// As every call.
pub async fn roll_back(tenant: &str, request: &str, why: &Reason, key: &str) -> Result<FreezeRolledBack, Failure> {
    let path = format!("/tenants/{}/freezes/{}/roll-back", part(tenant), part(request));
    Call::post(path).json(why).idempotent(key).read().await
}

/// Has Redis' copy made anew.
///
/// # Errors
/// `unavailable` where Redis is away.
pub async fn rebuild(tenant: &str) -> Result<Rebuilt, Failure> {
    Call::post(format!("/tenants/{}/rebuild", part(tenant))).json(&Rebuild { dry_run: false }).read().await
}
