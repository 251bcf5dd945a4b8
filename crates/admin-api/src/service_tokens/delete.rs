//! `DELETE /service-tokens/{id}`.

use domain::ids::ServiceTokenId;
use http::StatusCode;

use crate::auth::policy::ManageServiceTokens;
use crate::auth::{Audit, Call};
use crate::error::Result;
use crate::path::Id;
use crate::service_tokens::view;

/// Revokes a token at once.
#[utoipa::path(delete, path = "/service-tokens/{id}", operation_id = "delete_service_token", tag = "service tokens",
    params(("id" = ServiceTokenId, Path, description = "The token.")),
    responses((status = 204, description = "Revoked.")))]
pub async fn handler(mut call: Call<ManageServiceTokens>, Id(id): Id<ServiceTokenId>) -> Result<StatusCode> {
    let before = view(store::service_tokens::revoke(&mut call.tx, id).await?);
    call.commit(Audit::new("service_token.delete", id).before(&before)).await?;
    Ok(StatusCode::NO_CONTENT)
}
