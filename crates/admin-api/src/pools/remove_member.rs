//! `DELETE /pools/{id}/members/{t}`.

use domain::{PoolId, TenantId};
use http::StatusCode;

use crate::auth::policy::ManagePools;
use crate::auth::{Audit, Call};
use crate::error::{Error, Result};
use crate::path::Ids;
use crate::pools::place;

/// Takes a tenant out of the pool; its own quota alone limits it from then on. What it has spent stays spent in the pool's
/// present period. 409 where calls of it run and do not end within 5 s.
#[utoipa::path(delete, path = "/pools/{id}/members/{t}", operation_id = "remove_pool_member", tag = "pools",
    params(("id" = PoolId, Path, description = "The pool."), ("t" = TenantId, Path, description = "The tenant.")),
    responses((status = 204, description = "It is no member.")))]
pub async fn handler(mut call: Call<ManagePools>, Ids(id, tenant_id): Ids<PoolId, TenantId>) -> Result<StatusCode> {
    let tenant = store::tenants::lock(&mut call.tx, tenant_id, &call.reach).await?;
    let before = store::pools::of_tenant(&mut call.tx, tenant_id).await?;
    let Some((_, weight)) = before.filter(|(pool, _)| pool.id == id) else { return Err(Error::not_found()) };
    let placed = place::place(&mut call, &tenant, None).await?;
    let audit = Audit::new("pool.remove_member", id).of(tenant_id);
    call.commit(audit.before(&serde_json::json!({ "pool_id": id, "weight": weight }))).await?;
    placed.committed().await;
    Ok(StatusCode::NO_CONTENT)
}
