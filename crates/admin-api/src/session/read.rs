//! `GET /session`: who am I.

use api_types::session::Session;

use crate::auth::policy::AnyPerson;
use crate::auth::{Call, Caller};
use crate::error::{Error, Result};
use crate::reply::Reply;
use crate::session::describe;

/// Who is signed in.
#[utoipa::path(get, path = "/session", operation_id = "read_session", tag = "session",
    responses((status = 200, description = "Who is signed in.", body = Session)))]
pub async fn handler(call: Call<AnyPerson>) -> Result<Reply<Session>> {
    match &call.caller {
        Caller::Person { user, expires_at, .. } => Ok(Reply::ok(describe(user, *expires_at)?)),
        Caller::Service { .. } => Err(Error::forbidden("service tokens have no session")),
    }
}
