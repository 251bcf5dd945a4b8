//! Recorded requests.

use api_types::Page;
use api_types::request::Request;

use super::call::{Call, Failure, listed, part};

/// One page of requests, newest first; parameters as the API names them, empty ones mean everything.
///
/// # Errors
/// The parameters that were refused.
pub async fn list(parameters: &[(&'static str, String)]) -> Result<Page<Request>, Failure> {
    let parameters: Vec<(&str, &str)> = parameters.iter().map(|(name, value)| (*name, value.as_str())).collect();
    Call::get(listed("/requests", &parameters)).read().await
}

/// One request.
///
/// # Errors
/// `not_found` for one that is foreign, unknown or still running.
pub async fn one(id: &str) -> Result<Request, Failure> {
    Call::get(format!("/requests/{}", part(id))).read().await
}
