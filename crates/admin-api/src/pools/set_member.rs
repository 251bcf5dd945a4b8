//! `PUT /pools/{id}/members/{t}`.

use api_types::pool::{Pool, SetMember};
use domain::{PoolId, TenantId};

use crate::auth::policy::ManagePools;
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::Result;
use crate::path::Ids;
use crate::pools::{check_weight, place, view};
use crate::reply::Reply;
use crate::validate::Fields;

/// Brings a tenant into the pool, out of any other, or changes its weight. Calls of the tenant that come meanwhile wait; 409
/// where some that run do not end within 5 s. In force on every gateway at return.
#[utoipa::path(put, path = "/pools/{id}/members/{t}", operation_id = "set_pool_member", tag = "pools", request_body = SetMember,
    params(("id" = PoolId, Path, description = "The pool."), ("t" = TenantId, Path, description = "The tenant.")),
    responses((status = 200, description = "The pool with its members.", body = Pool, headers(("ETag" = String)))))]
pub async fn handler(
    mut call: Call<ManagePools>,
    Ids(id, tenant_id): Ids<PoolId, TenantId>,
    Json { value: body, .. }: Json<SetMember>,
) -> Result<Reply<Pool>> {
    let mut fields = Fields::new();
    check_weight(&mut fields, "weight", body.weight);
    fields.done()?;
    let tenant = store::tenants::lock(&mut call.tx, tenant_id, &call.reach).await?;
    let before = store::pools::of_tenant(&mut call.tx, tenant_id).await?;
    let placed = place::place(&mut call, &tenant, Some((id, body.weight))).await?;
    let (pool, app) = (store::pools::get(&mut call.tx, id).await?, call.app.clone());
    let members = store::pools::members(&mut call.tx, id).await?;
    let mut view = view(&app, &mut call.tx, pool, Some(members)).await?;
    let told = |pool: PoolId, weight: u32| serde_json::json!({ "pool_id": pool, "weight": weight });
    let mut audit = Audit::new("pool.set_member", id).of(tenant_id).after(&told(id, body.weight));
    if let Some((pool, weight)) = before {
        audit = audit.before(&told(pool.id, weight));
    }
    call.commit(audit).await?;
    view.in_force = Some(placed.committed().await);
    let version = view.version;
    Ok(Reply::ok(view).version(version))
}
