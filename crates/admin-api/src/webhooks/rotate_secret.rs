//! `POST /webhooks/{w}/rotate-secret`.

use api_types::webhook::RotatedSecret;
use domain::WebhookId;
use serde_json::json;
use time::{Duration, OffsetDateTime};

use crate::auth::policy::WriteWebhooks;
use crate::auth::{Audit, Call};
use crate::error::{Error, Result};
use crate::path::Id;
use crate::reply::Reply;
use crate::webhooks::{new_secret, of_tenant, view};

/// Makes another secret, which is in this reply and nowhere else. For a day both sign, so that receivers can change over.
#[utoipa::path(post, path = "/webhooks/{w}/rotate-secret", operation_id = "rotate_webhook_secret", tag = "webhooks",
    params(("w" = WebhookId, Path, description = "The endpoint.")),
    responses((status = 200, description = "The new secret.", body = RotatedSecret)))]
pub async fn handler(mut call: Call<WriteWebhooks>, Id(id): Id<WebhookId>) -> Result<Reply<RotatedSecret>> {
    store::webhooks::get(&mut call.tx, id, &call.reach).await?;
    let overlap = i64::try_from(call.app.config().webhook_secret_overlap_s).map_err(Error::internal)?;
    let old_valid_until = OffsetDateTime::now_utc() + Duration::seconds(overlap);
    let (secret, sealed) = new_secret(&call.app, id)?;
    store::webhooks::rotate_secret(&mut call.tx, id, &sealed, old_valid_until).await?;
    // As it is stored, to the microsecond.
    let webhook = view(store::webhooks::get(&mut call.tx, id, &call.reach).await?)?;
    let old_valid_until = webhook.old_valid_until.unwrap_or_else(|| old_valid_until.into());
    let reply = RotatedSecret { secret, old_valid_until };
    let audit = Audit::new("webhook.rotate_secret", id).after(&json!({ "old_valid_until": reply.old_valid_until }));
    call.commit(of_tenant(audit, &webhook)).await?;
    Ok(Reply::ok(reply))
}
