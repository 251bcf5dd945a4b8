//! `GET /setup`: whether the first administrator is missing.

use api_types::session::SetUpState;

use crate::auth::Open;
use crate::error::Result;
use crate::reply::Reply;

/// Whether the first administrator is still missing.
#[utoipa::path(get, path = "/setup", operation_id = "read_setup", tag = "setup",
    responses((status = 200, description = "Whether a set-up is needed.", body = SetUpState)))]
pub async fn handler(open: Open) -> Result<Reply<SetUpState>> {
    let needed = !store::users::owner_exists(&mut *open.begin().await?).await?;
    Ok(Reply::ok(SetUpState { needed }))
}
