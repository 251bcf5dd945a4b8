//! `DELETE /users/{usr}`.

use domain::ids::UserId;
use http::StatusCode;

use crate::auth::policy::ManagePeople;
use crate::auth::{Audit, Call};
use crate::error::Result;
use crate::path::Id;
use crate::users::{keep_an_owner, view};

/// Removes a person, or takes an invitation back. Their sessions end at once. The last owner stays.
#[utoipa::path(delete, path = "/users/{usr}", operation_id = "delete_user", tag = "people",
    params(("usr" = UserId, Path, description = "The person.")),
    responses((status = 204, description = "Removed.")))]
pub async fn handler(mut call: Call<ManagePeople>, Id(id): Id<UserId>) -> Result<StatusCode> {
    let user = store::users::get_within(&mut call.tx, id, &call.reach).await?;
    keep_an_owner(&mut call.tx, &user, &call.reach).await?;
    store::users::delete(&mut call.tx, id).await?;
    call.commit(Audit::new("user.delete", id).of_maybe(user.tenant_id).before(&view(&user)?)).await?;
    Ok(StatusCode::NO_CONTENT)
}
