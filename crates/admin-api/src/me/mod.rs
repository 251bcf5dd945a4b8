//! What people do for themselves: sessions, password, second factor.

pub mod confirm_totp;
pub mod end_session;
pub mod list_sessions;
pub mod password;
pub mod remove_totp;
pub mod start_totp;

use domain::ids::SessionId;
use store::users::User;

use crate::auth::Caller;
use crate::error::{Error, Result};

/// The person who calls, and their session.
///
/// # Errors
/// 403 for a service token.
pub fn who(caller: &Caller) -> Result<(User, SessionId)> {
    match caller {
        Caller::Person { user, session_id, .. } => Ok((user.as_ref().clone(), *session_id)),
        Caller::Service { .. } => Err(Error::forbidden("service tokens are no person; sign in as one")),
    }
}
