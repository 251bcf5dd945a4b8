//! `GET /webhooks`.

use api_types::Page;
use api_types::webhook::Webhook;

use crate::auth::Call;
use crate::auth::policy::WriteWebhooks;
use crate::error::Result;
use crate::list::{ByCreation, Query};
use crate::reply::Reply;
use crate::webhooks::view;

/// Lists endpoints, without their secrets.
#[utoipa::path(get, path = "/webhooks", operation_id = "list_webhooks", tag = "webhooks", params(ByCreation),
    responses((status = 200, description = "A page of endpoints.", body = Page<Webhook>)))]
pub async fn handler(mut call: Call<WriteWebhooks>, Query(query): Query<ByCreation>) -> Result<Reply<Page<Webhook>>> {
    let rows = store::webhooks::list(&mut call.tx, &call.reach, query.window()?).await?;
    Ok(Reply::ok(query.page(rows, |webhook| webhook.id.uuid(), view)?))
}
