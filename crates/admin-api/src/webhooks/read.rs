//! `GET /webhooks/{w}`.

use api_types::webhook::Webhook;
use domain::WebhookId;

use crate::auth::Call;
use crate::auth::policy::WriteWebhooks;
use crate::error::Result;
use crate::path::Id;
use crate::reply::Reply;
use crate::webhooks::view;

/// An endpoint, without its secret.
#[utoipa::path(get, path = "/webhooks/{w}", operation_id = "read_webhook", tag = "webhooks",
    params(("w" = WebhookId, Path, description = "The endpoint.")),
    responses((status = 200, description = "The endpoint.", body = Webhook, headers(("ETag" = String)))))]
pub async fn handler(mut call: Call<WriteWebhooks>, Id(id): Id<WebhookId>) -> Result<Reply<Webhook>> {
    let view = view(store::webhooks::get(&mut call.tx, id, &call.reach).await?)?;
    let version = view.version;
    Ok(Reply::ok(view).version(version))
}
