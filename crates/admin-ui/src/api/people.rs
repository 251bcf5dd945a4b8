//! The session and the first administrator.

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
