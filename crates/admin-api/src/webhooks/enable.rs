//! `POST /webhooks/{w}/enable`.

use api_types::webhook::Webhook;
use domain::WebhookId;

use crate::auth::policy::WriteWebhooks;
use crate::auth::{Audit, Call};
use crate::error::Result;
use crate::path::Id;
use crate::reply::Reply;
use crate::webhooks::{of_tenant, view};

/// Enables an endpoint that was disabled, as if it had never failed. Events of the meantime are not sent by themselves: have
/// them delivered again.
#[utoipa::path(post, path = "/webhooks/{w}/enable", operation_id = "enable_webhook", tag = "webhooks",
    params(("w" = WebhookId, Path, description = "The endpoint.")),
    responses((status = 200, description = "The endpoint.", body = Webhook, headers(("ETag" = String)))))]
pub async fn handler(mut call: Call<WriteWebhooks>, Id(id): Id<WebhookId>) -> Result<Reply<Webhook>> {
    let before = view(store::webhooks::get(&mut call.tx, id, &call.reach).await?)?;
    store::webhooks::enable(&mut call.tx, id).await?;
    let after = view(store::webhooks::get(&mut call.tx, id, &call.reach).await?)?;
    let audit = Audit::new("webhook.enable", id).before(&before).after(&after);
    call.commit(of_tenant(audit, &after)).await?;
    let version = after.version;
    Ok(Reply::ok(after).version(version))
}
