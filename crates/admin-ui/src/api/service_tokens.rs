//! Tokens of systems.

use api_types::Page;
use api_types::key::RotateSecret;
use api_types::service_token::{CreateServiceToken, ServiceToken};
use api_types::webhook::RotatedSecret;

use super::call::{Call, Failure, part};

/// Tokens that are not revoked.
///
/// # Errors
/// As every call.
pub async fn list() -> Result<Page<ServiceToken>, Failure> {
    Call::get("/service-tokens?limit=200").read().await
}

/// Makes a token. Its secret is in this reply and nowhere else.
///
/// # Errors
/// The fields that were refused.
pub async fn create(token: &CreateServiceToken) -> Result<ServiceToken, Failure> {
    Call::post("/service-tokens").json(token).read().await
}

/// Revokes a token at once.
///
/// # Errors
/// As every call.
pub async fn delete(id: &str) -> Result<(), Failure> {
    Call::delete(format!("/service-tokens/{}", part(id))).done().await
}

/// Gives the token another secret, which is in this reply and nowhere else.
///
/// # Errors
/// As every call.
pub async fn rotate(id: &str, how: &RotateSecret) -> Result<RotatedSecret, Failure> {
    Call::post(format!("/service-tokens/{}/rotate", part(id))).json(how).read().await
}
