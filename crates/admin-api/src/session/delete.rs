//! `DELETE /session`: signs out.

use axum::response::IntoResponse;
use http::StatusCode;

use crate::auth::policy::AnyPerson;
use crate::auth::{Audit, Call, Caller};
use crate::error::{Error, Result};
use crate::session::signed_out;

/// Signs out: the session ends at once, and its cookies are removed.
#[utoipa::path(delete, path = "/session", operation_id = "sign_out", tag = "session",
    responses((status = 204, description = "Signed out.")))]
pub async fn handler(mut call: Call<AnyPerson>) -> Result<impl IntoResponse> {
    let Caller::Person { session_id, .. } = call.caller else {
        return Err(Error::forbidden("service tokens have no session"));
    };
    store::sessions::end(&mut call.tx, session_id).await?;
    call.commit(Audit::new("session.end", session_id)).await?;
    Ok((signed_out()?, StatusCode::NO_CONTENT))
}
