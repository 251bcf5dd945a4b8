//! `PATCH /webhooks/{w}`.

use api_types::webhook::{ChangeWebhook, Webhook};
use domain::WebhookId;

use crate::auth::policy::WriteWebhooks;
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::Result;
use crate::path::Id;
use crate::precondition::IfMatch;
use crate::reply::Reply;
use crate::validate::Fields;
use crate::webhooks::{event_types, of_tenant, url, view};

/// Changes an endpoint. What waits for it is sent to the new URL.
#[utoipa::path(patch, path = "/webhooks/{w}", operation_id = "change_webhook", tag = "webhooks", request_body = ChangeWebhook,
    params(("w" = WebhookId, Path, description = "The endpoint."), ("If-Match" = String, Header, description = "The ETag that was read.")),
    responses((status = 200, description = "The endpoint.", body = Webhook, headers(("ETag" = String)))))]
pub async fn handler(
    mut call: Call<WriteWebhooks>,
    Id(id): Id<WebhookId>,
    if_match: IfMatch,
    Json { value: body, .. }: Json<ChangeWebhook>,
) -> Result<Reply<Webhook>> {
    let before = store::webhooks::get(&mut call.tx, id, &call.reach).await?;
    if_match.check(before.version)?;
    store::webhooks::update(&mut call.tx, &apply(&before, &body)?).await?;
    let after = view(store::webhooks::get(&mut call.tx, id, &call.reach).await?)?;
    let audit = Audit::new("webhook.change", id).before(&view(before)?).after(&after);
    call.commit(of_tenant(audit, &after)).await?;
    let version = after.version;
    Ok(Reply::ok(after).version(version))
}

fn apply(before: &store::webhooks::Webhook, body: &ChangeWebhook) -> Result<store::webhooks::Webhook> {
    let (mut fields, mut row) = (Fields::new(), before.clone());
    if let Some(text) = &body.url {
        row.url = url(&mut fields, text);
    }
    if let Some(types) = &body.event_types {
        row.event_types = event_types(&mut fields, types);
    }
    if let Some(text) = &body.description {
        row.description = fields.note("description", text, 500);
    }
    fields.done()?;
    Ok(row)
}
