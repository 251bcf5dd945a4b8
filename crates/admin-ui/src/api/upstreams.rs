//! Upstream accounts.

use api_types::Page;
use api_types::upstream::{ChangeUpstream, CreateUpstream, Upstream};

use super::call::{Call, Failure, part};

/// Every upstream (at most 200), without keys.
///
/// # Errors
/// As every call.
pub async fn list() -> Result<Page<Upstream>, Failure> {
    Call::get("/upstreams?limit=200").read().await
}

/// Adds an upstream.
///
/// # Errors
/// The fields that were refused.
pub async fn create(upstream: &CreateUpstream) -> Result<Upstream, Failure> {
    Call::post("/upstreams").json(upstream).read().await
}

/// Changes an upstream.
///
/// # Errors
/// The fields that were refused; `precondition_failed` where it was changed meanwhile.
pub async fn change(id: &str, version: i64, change: &ChangeUpstream) -> Result<Upstream, Failure> {
    Call::patch(format!("/upstreams/{}", part(id))).json(change).on_version(version).read().await
}

/// Removes an upstream that no target uses.
///
/// # Errors
/// A conflict where one does.
pub async fn delete(id: &str) -> Result<(), Failure> {
    Call::delete(format!("/upstreams/{}", part(id))).done().await
}
