//! `POST /keys/{k}/disable`.

use api_types::key::Key;
use api_types::tenant::Reason;
use domain::KeyId;
use serde_json::json;

use crate::auth::policy::WriteKeys;
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::Result;
use crate::keys::{events, status, view};
use crate::numbers::unit;
use crate::path::Id;
use crate::reply::Reply;
use crate::validate::Fields;
use crate::{force, numbers, scopes};

/// Disables a key: no gateway admits a call with it from the return on.
#[utoipa::path(post, path = "/keys/{k}/disable", operation_id = "disable_key", tag = "keys", request_body = Reason,
    params(("k" = KeyId, Path, description = "The key.")),
    responses((status = 200, description = "The key.", body = Key, headers(("ETag" = String)))))]
pub async fn handler(
    mut call: Call<WriteKeys>,
    Id(id): Id<KeyId>,
    Json { value: body, .. }: Json<Reason>,
) -> Result<Reply<Key>> {
    let mut fields = Fields::new();
    let reason = fields.text("reason", &body.reason, 1000);
    fields.done()?;
    let (before, tenant) = status::find(&mut call, id).await?;
    let scope = status::set(&mut call, &before, &tenant, "disabled").await?;
    let key = store::keys::get(&mut call.tx, id, &call.reach).await?;
    let quota = numbers::one(&call.app, &mut call.tx, &tenant, scopes::key(&tenant, &key)?).await?;
    let mut view = view(key, unit(&tenant)?, quota)?;
    if before.status == "active" {
        events::revoked(&mut call, &before, "disabled").await?;
    }
    let audit = Audit::new("key.disable", id).of(tenant.id).before(&json!({ "status": before.status }));
    let app = call.commit(audit.after(&json!({ "status": view.status, "reason": reason }))).await?;
    view.in_force = Some(force::push(&app, tenant.id, &[scope]).await);
    let version = view.version;
    Ok(Reply::ok(view).version(version))
}
