//! People, and what one may change of oneself.

use api_types::Page;
use api_types::person::{ChangePassword, ChangeUser, InviteUser, OwnSession, RecoveryCodes, TotpCode, TotpSecret};
use api_types::session::User;

use super::call::{Call, Failure, part};

/// People, newest first.
///
/// # Errors
/// As every call.
pub async fn list() -> Result<Page<User>, Failure> {
    Call::get("/users?limit=200").page().await
}

/// Of one tenant.
///
/// # Errors
/// As every call.
pub async fn of_tenant(tenant: &str) -> Result<Page<User>, Failure> {
    Call::get(format!("/users?limit=200&tenant_id={}", part(tenant))).page().await
}

/// Invites somebody by mail.
///
/// # Errors
/// The fields that were refused.
pub async fn invite(who: &InviteUser) -> Result<User, Failure> {
    Call::post("/users").json(who).read().await
}

/// Changes somebody.
///
/// # Errors
/// The fields that were refused; a conflict at the last owner.
pub async fn change(id: &str, change: &ChangeUser) -> Result<User, Failure> {
    Call::patch(format!("/users/{}", part(id))).json(change).read().await
}

/// Removes somebody.
///
/// # Errors
/// A conflict at the last owner.
pub async fn delete(id: &str) -> Result<(), Failure> {
    Call::delete(format!("/users/{}", part(id))).done().await
}

/// One's own sessions.
///
/// # Errors
/// As every call.
pub async fn sessions() -> Result<Page<OwnSession>, Failure> {
    Call::get("/me/sessions").page().await
}

/// Ends one of them.
///
/// # Errors
/// As every call.
pub async fn end_session(id: &str) -> Result<(), Failure> {
    Call::delete(format!("/me/sessions/{}", part(id))).done().await
}

/// Another password of one's own.
///
/// # Errors
/// The fields that were refused.
pub async fn change_password(change: &ChangePassword) -> Result<(), Failure> {
    Call::put("/me/password").json(change).done().await
}

/// Begins a second factor.
///
/// # Errors
/// A conflict where there is one.
pub async fn start_totp() -> Result<TotpSecret, Failure> {
    Call::post("/me/totp").read().await
}

/// Ends the beginning: from its first code on, it counts.
///
/// # Errors
/// The code was refused.
pub async fn confirm_totp(code: &TotpCode) -> Result<RecoveryCodes, Failure> {
    Call::put("/me/totp").json(code).read().await
}

/// Removes it.
///
/// # Errors
/// The code was refused.
pub async fn remove_totp(code: &TotpCode) -> Result<(), Failure> {
    Call::delete("/me/totp").json(code).done().await
}
