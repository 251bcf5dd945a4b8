//! `POST /webhooks/{w}/redeliver`.

use api_types::webhook::{Queued, Redeliver, WebhookStatus};
use domain::WebhookId;
use store::webhook_deliveries::Again;

use crate::auth::policy::WriteWebhooks;
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::{Error, Result};
use crate::path::Id;
use crate::reply::Reply;
use crate::validate::Fields;
use crate::webhooks::{of_tenant, view};

/// Events that one call delivers again at most.
const MOST: usize = 1000;

/// Delivers events again, with the same ids: those named, or those of a range. At most 1000, oldest first.
#[utoipa::path(post, path = "/webhooks/{w}/redeliver", operation_id = "redeliver_webhook", tag = "webhooks",
    request_body = Redeliver, params(("w" = WebhookId, Path, description = "The endpoint.")),
    responses((status = 200, description = "How many are sent again.", body = Queued)))]
pub async fn handler(
    mut call: Call<WriteWebhooks>,
    Id(id): Id<WebhookId>,
    Json { value: body, .. }: Json<Redeliver>,
) -> Result<Reply<Queued>> {
    let webhook = view(store::webhooks::get(&mut call.tx, id, &call.reach).await?)?;
    let again = check(&body)?;
    if webhook.status == WebhookStatus::Disabled {
        return Err(Error::conflict("the endpoint is disabled; enable it first"));
    }
    let queued = store::webhook_deliveries::redeliver(&mut call.tx, id, webhook.tenant_id, &again).await?;
    call.commit(of_tenant(Audit::new("webhook.redeliver", id).before(&body).after(&Queued { queued }), &webhook))
        .await?;
    Ok(Reply::ok(Queued { queued }))
}

fn check(body: &Redeliver) -> Result<Again> {
    let mut fields = Fields::new();
    let ranged = body.from.is_some() || body.to.is_some();
    let message = "name event_ids, or a range by from and to, and not both";
    fields.check(body.event_ids.is_some() != ranged, "event_ids", "invalid", message);
    let fits = body.event_ids.as_ref().is_none_or(|ids| (1..=MOST).contains(&ids.len()));
    fields.check(fits, "event_ids", "out_of_range", "name 1 to 1000 events");
    fields.done()?;
    let limit = i64::try_from(MOST).map_err(Error::internal)?;
    Ok(Again { events: body.event_ids.clone(), from: body.from.map(Into::into), to: body.to.map(Into::into), limit })
}
