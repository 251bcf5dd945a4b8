//! `DELETE /session`: signs out.

use axum::response::IntoResponse;
use http::StatusCode;
use serde_json::json;

use crate::auth::policy::AnyPerson;
use crate::auth::{Audit, Call};
use crate::error::Result;
use crate::me::who;
use crate::session::signed_out;

/// Signs out: the session ends at once, and its cookies are removed.
#[utoipa::path(delete, path = "/session", operation_id = "sign_out", tag = "session",
    responses((status = 204, description = "Signed out.")))]
pub async fn handler(mut call: Call<AnyPerson>) -> Result<impl IntoResponse> {
    let (user, session_id) = who(&call.caller)?;
    store::sessions::end(&mut call.tx, session_id).await?;
    call.commit(Audit::new("session.end", session_id).before(&json!({ "user_id": user.id }))).await?;
    Ok((signed_out()?, StatusCode::NO_CONTENT))
}
