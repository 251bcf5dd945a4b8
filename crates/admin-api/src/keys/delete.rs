//! `DELETE /keys/{k}`.

use domain::KeyId;
use http::StatusCode;
use serde_json::json;

use crate::auth::policy::WriteKeys;
use crate::auth::{Audit, Call};
use crate::error::Result;
use crate::force;
use crate::keys::{events, status};
use crate::path::Id;

/// Deletes a key for good: no gateway admits a call with it from the return on. What it spent stays in the books.
#[utoipa::path(delete, path = "/keys/{k}", operation_id = "delete_key", tag = "keys",
    params(("k" = KeyId, Path, description = "The key.")), responses((status = 204, description = "Deleted.")))]
pub async fn handler(mut call: Call<WriteKeys>, Id(id): Id<KeyId>) -> Result<StatusCode> {
    let (key, tenant) = status::find(&mut call, id).await?;
    let scope = status::set(&mut call, &key, &tenant, "deleted").await?;
    events::revoked(&mut call, &key, "deleted").await?;
    let audit = Audit::new("key.delete", id).of(tenant.id).before(&json!({ "name": key.name, "status": key.status }));
    let app = call.commit(audit).await?;
    force::push(&app, tenant.id, &[scope]).await;
    Ok(StatusCode::NO_CONTENT)
}
