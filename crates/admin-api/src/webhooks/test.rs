//! `POST /webhooks/{w}/test`.

use api_types::webhook::{EventType, TestSent, WebhookStatus};
use domain::WebhookId;
use serde_json::json;
use store::outbox::NewEvent;

use crate::auth::policy::WriteWebhooks;
use crate::auth::{Audit, Call};
use crate::error::{Error, Result};
use crate::path::Id;
use crate::reply::Reply;
use crate::webhooks::{of_tenant, view};

/// Sends an event of the type `webhook.test` to this endpoint; its deliveries tell how it went.
#[utoipa::path(post, path = "/webhooks/{w}/test", operation_id = "test_webhook", tag = "webhooks",
    params(("w" = WebhookId, Path, description = "The endpoint.")),
    responses((status = 200, description = "The event that is being sent.", body = TestSent)))]
pub async fn handler(mut call: Call<WriteWebhooks>, Id(id): Id<WebhookId>) -> Result<Reply<TestSent>> {
    let webhook = view(store::webhooks::get(&mut call.tx, id, &call.reach).await?)?;
    if webhook.status == WebhookStatus::Disabled {
        return Err(Error::conflict("the endpoint is disabled; enable it first"));
    }
    let event = NewEvent {
        kind: EventType::WebhookTest.as_str(),
        tenant_id: webhook.tenant_id,
        webhook_id: Some(id),
        scope: None,
        data: json!({ "tenant_id": webhook.tenant_id, "webhook_id": id }),
    };
    let reply = TestSent { event_id: store::outbox::append(&mut call.tx, &event).await? };
    call.commit(of_tenant(Audit::new("webhook.test", id).after(&reply), &webhook)).await?;
    Ok(Reply::ok(reply))
}
