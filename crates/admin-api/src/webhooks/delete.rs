//! `DELETE /webhooks/{w}`.

use domain::WebhookId;
use http::StatusCode;

use crate::auth::policy::WriteWebhooks;
use crate::auth::{Audit, Call};
use crate::error::Result;
use crate::path::Id;
use crate::webhooks::{of_tenant, view};

/// Removes an endpoint with its deliveries.
#[utoipa::path(delete, path = "/webhooks/{w}", operation_id = "delete_webhook", tag = "webhooks",
    params(("w" = WebhookId, Path, description = "The endpoint.")), responses((status = 204, description = "Removed.")))]
pub async fn handler(mut call: Call<WriteWebhooks>, Id(id): Id<WebhookId>) -> Result<StatusCode> {
    let before = view(store::webhooks::get(&mut call.tx, id, &call.reach).await?)?;
    store::webhooks::delete(&mut call.tx, id).await?;
    call.commit(of_tenant(Audit::new("webhook.delete", id).before(&before), &before)).await?;
    Ok(StatusCode::NO_CONTENT)
}
