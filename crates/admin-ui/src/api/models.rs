//! Models offered to tenants.

use api_types::Page;
use api_types::model::Model;

use super::call::{Call, Failure};

/// Every model (at most 200).
///
/// # Errors
/// As every call.
pub async fn list() -> Result<Page<Model>, Failure> {
    Call::get("/models?limit=200").read().await
}
