//! `POST /webhooks`.

use api_types::webhook::{CreateWebhook, Webhook};
use domain::{TenantId, WebhookId};
use store::Reach;
use time::OffsetDateTime;

use crate::auth::policy::WriteWebhooks;
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::{Error, Result};
use crate::reply::Reply;
use crate::validate::Fields;
use crate::webhooks::{event_types, new_secret, of_tenant, url, view};

/// Endpoints of a tenant, or of the platform, at most.
const MOST: i64 = 50;

/// Adds an endpoint. The secret that signs is in this reply and nowhere else.
#[utoipa::path(post, path = "/webhooks", operation_id = "create_webhook", tag = "webhooks", request_body = CreateWebhook,
    responses((status = 201, description = "The endpoint with its secret.", body = Webhook, headers(("ETag" = String)))))]
pub async fn handler(
    mut call: Call<WriteWebhooks>,
    Json { value: body, .. }: Json<CreateWebhook>,
) -> Result<Reply<Webhook>> {
    let tenant = tenant(&mut call, body.tenant_id).await?;
    let row = check(&body, tenant)?;
    if store::webhooks::count(&mut call.tx, tenant).await? >= MOST {
        return Err(Error::conflict(format!("there are {MOST} endpoints already; remove one first")));
    }
    let (secret, sealed) = new_secret(&call.app, row.id)?;
    let mut view = view(store::webhooks::create(&mut call.tx, &row, &sealed).await?)?;
    call.commit(of_tenant(Audit::new("webhook.create", view.id).after(&view), &view)).await?;
    view.secret = Some(secret);
    let (path, version) = (format!("/webhooks/{}", view.id), view.version);
    Ok(Reply::created(&path, view).version(version))
}

/// Whose endpoint it becomes: the tenant asked for, else the only one within reach, else the platform's.
async fn tenant(call: &mut Call<WriteWebhooks>, asked: Option<TenantId>) -> Result<Option<TenantId>> {
    let tenant = match (asked, &call.reach) {
        (Some(id), _) => Some(id),
        (None, Reach::All) => None,
        (None, Reach::Tenants(ids)) => match ids.as_slice() {
            [only] => Some(*only),
            _ => return Err(Error::field("tenant_id", "required", "name one of the tenants that you may see")),
        },
    };
    if let Some(id) = tenant {
        match store::tenants::get(&mut call.tx, id, &call.reach).await {
            Err(store::Error::NotFound) => {
                return Err(Error::field("tenant_id", "not_found", "there is no such tenant, or it is not yours"));
            }
            other => drop(other?),
        }
    }
    Ok(tenant)
}

fn check(body: &CreateWebhook, tenant_id: Option<TenantId>) -> Result<store::webhooks::Webhook> {
    let mut fields = Fields::new();
    let row = store::webhooks::Webhook {
        id: WebhookId::generate(),
        tenant_id,
        url: url(&mut fields, &body.url),
        event_types: event_types(&mut fields, &body.event_types),
        description: fields.note("description", body.description.as_deref().unwrap_or_default(), 500),
        status: "enabled".to_owned(),
        disabled_reason: None,
        failing_since: None,
        previous_valid_until: None,
        created_at: OffsetDateTime::UNIX_EPOCH,
        version: 1,
    };
    fields.done()?;
    Ok(row)
}
