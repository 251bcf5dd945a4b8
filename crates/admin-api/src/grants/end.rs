//! `POST /grants/{g}/end`.

use api_types::grant::Grant;
use api_types::tenant::Reason;
use axum::response::Response;
use domain::{GrantId, Scope};

use crate::auth::policy::WriteGrants;
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::{Error, Result};
use crate::grants::view;
use crate::numbers::{self, unit};
use crate::once::{self, Key, Stored};
use crate::path::Id;
use crate::validate::Fields;

/// Ends a grant now: what was given and what was spent of it leave the numbers together. Requests that run may still use it.
/// The grant of a plan takes the plan with it: it renews no more. In force on every gateway at return.
#[utoipa::path(post, path = "/grants/{g}/end", operation_id = "end_grant", tag = "grants", request_body = Reason,
    params(("g" = GrantId, Path, description = "The grant."),
        ("Idempotency-Key" = String, Header, description = "A value of your own, the same when you try again.")),
    responses((status = 200, description = "The grant, and the tenant's numbers without it.", body = Grant)))]
pub async fn handler(
    mut call: Call<WriteGrants>,
    Id(id): Id<GrantId>,
    key: Key,
    Json { value: body, hash }: Json<Reason>,
) -> Result<Response> {
    let mut fields = Fields::new();
    let reason = fields.note("reason", &body.reason, 1000);
    fields.done()?;
    let before = store::grants::get(&mut call.tx, id, &call.reach).await?;
    if let Some(stored) = once::claim(&mut call, &key, &hash).await? {
        let app = call.app.clone();
        drop(call);
        return Ok(stored.respond(&app).await);
    }
    let tenant = store::tenants::get(&mut call.tx, before.tenant_id, &call.reach).await?;
    let (unit, tenant_id, actor) = (unit(&tenant)?, tenant.id, call.caller.actor());
    match store::grants::end(&mut call.tx, tenant_id, id, &actor, &reason).await {
        Ok(_) => {}
        Err(store::Error::NotFound) => return Err(Error::conflict("the grant is over already")),
        Err(error) => return Err(error.into()),
    }
    let after = store::grants::get(&mut call.tx, id, &call.reach).await?;
    let mut ended = view(after, unit)?;
    ended.quota = Some(numbers::of_tenant(&call.app, &mut call.tx, &tenant).await?);
    let stored = Stored::changed(tenant_id, &[Scope::Tenant(tenant_id)], &ended)?;
    let audit = Audit::new("grant.end", id).of(tenant_id).before(&view(before, unit)?).after(&ended);
    once::commit(call, &key, &hash, stored, audit).await
}
