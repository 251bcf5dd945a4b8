//! The session, the first administrator, and what the links of mails lead to.

use api_types::person::{AcceptInvitation, Invitation, LookUpInvitation, RequestPasswordReset, ResetPassword};
use api_types::session::{Session, SetUp, SetUpState, SignIn, User};

use super::call::{Call, Failure};

/// Who is signed in.
///
/// # Errors
/// `unauthenticated` where nobody is.
pub async fn session() -> Result<Session, Failure> {
    Call::get("/session").read().await
}

/// Signs in.
///
/// # Errors
/// `bad_credentials`, `totp_required`, `too_many_requests`.
pub async fn sign_in(who: &SignIn) -> Result<Session, Failure> {
    Call::post("/session").json(who).without_refresh().read().await
}

/// Signs out.
///
/// # Errors
/// Where the API is away: the session then lives on.
pub async fn sign_out() -> Result<(), Failure> {
    Call::delete("/session").without_refresh().done().await
}

/// Whether the first administrator is still missing.
///
/// # Errors
/// Where the API is away.
pub async fn set_up_state() -> Result<SetUpState, Failure> {
    Call::get("/setup").without_refresh().read().await
}

/// Creates the first administrator.
///
/// # Errors
/// The fields that were refused; a conflict where one exists.
pub async fn set_up(first: &SetUp) -> Result<User, Failure> {
    Call::post("/setup").json(first).without_refresh().read().await
}

/// Whom an invitation is for.
///
/// # Errors
/// `bad_credentials` where the link is wrong, was used or is over.
pub async fn look_up(invitation: &LookUpInvitation) -> Result<Invitation, Failure> {
    Call::post("/invitations/look-up").json(invitation).without_refresh().read().await
}

/// Accepts an invitation.
///
/// # Errors
/// As [`look_up`]; the fields that were refused.
pub async fn accept(invitation: &AcceptInvitation) -> Result<User, Failure> {
    Call::post("/invitations/accept").json(invitation).without_refresh().read().await
}

/// Has a link mailed to somebody who has forgotten the password. It never says whether there is such a person.
///
/// # Errors
/// `too_many_requests`.
pub async fn ask_for_reset(whom: &RequestPasswordReset) -> Result<(), Failure> {
    Call::post("/password-resets").json(whom).without_refresh().done().await
}

/// Sets another password.
///
/// # Errors
/// `bad_credentials` where the link is wrong, was used or is over; the fields that were refused.
pub async fn reset_password(reset: &ResetPassword) -> Result<User, Failure> {
    Call::put("/password-resets").json(reset).without_refresh().read().await
}
