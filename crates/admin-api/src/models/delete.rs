//! `DELETE /models/{m}`.

use domain::ModelId;
use http::StatusCode;

use crate::auth::policy::WriteModels;
use crate::auth::{Audit, Call};
use crate::error::Result;
use crate::models::view;
use crate::path::Id;

/// Removes a model with its targets and prices. What was charged for it stays in the books.
#[utoipa::path(delete, path = "/models/{m}", operation_id = "delete_model", tag = "models",
    params(("m" = ModelId, Path, description = "The model.")), responses((status = 204, description = "Removed.")))]
pub async fn handler(mut call: Call<WriteModels>, Id(id): Id<ModelId>) -> Result<StatusCode> {
    let before = view(store::models::get(&mut call.tx, id).await?, None)?;
    store::models::delete(&mut call.tx, id).await?;
    call.commit(Audit::new("model.delete", id).before(&before)).await?;
    Ok(StatusCode::NO_CONTENT)
}
