//! `DELETE /targets/{id}`.

use domain::TargetId;
use http::StatusCode;

use crate::auth::policy::WriteModels;
use crate::auth::{Audit, Call};
use crate::error::Result;
use crate::path::Id;
use crate::targets::view;
use crate::upstreams::health::Ill;

/// Removes a target.
#[utoipa::path(delete, path = "/targets/{id}", operation_id = "delete_target", tag = "models",
    params(("id" = TargetId, Path, description = "The target.")), responses((status = 204, description = "Removed.")))]
pub async fn handler(mut call: Call<WriteModels>, Id(id): Id<TargetId>) -> Result<StatusCode> {
    let before = view(store::targets::get(&mut call.tx, id).await?, &Ill::default())?;
    store::targets::delete(&mut call.tx, id).await?;
    call.commit(Audit::new("target.delete", id).before(&before)).await?;
    Ok(StatusCode::NO_CONTENT)
}
