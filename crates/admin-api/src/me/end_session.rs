//! `DELETE /me/sessions/{ses}`.

use domain::ids::SessionId;
use http::StatusCode;
use serde_json::json;

use crate::auth::policy::AnyPerson;
use crate::auth::{Audit, Call};
use crate::error::Result;
use crate::me::who;
use crate::path::Id;

/// Ends one of one's own sessions, at once.
#[utoipa::path(delete, path = "/me/sessions/{ses}", operation_id = "end_own_session", tag = "people",
    params(("ses" = SessionId, Path, description = "The session.")),
    responses((status = 204, description = "Ended.")))]
pub async fn handler(mut call: Call<AnyPerson>, Id(id): Id<SessionId>) -> Result<StatusCode> {
    let (user, _) = who(&call.caller)?;
    store::sessions::end_of(&mut call.tx, user.id, id).await?;
    call.commit(Audit::new("session.end", id).before(&json!({ "user_id": user.id }))).await?;
    Ok(StatusCode::NO_CONTENT)
}
