//! `POST /tenants/{t}/rebuild`.

use api_types::live::{Rebuild, Rebuilt};
use domain::TenantId;

use crate::auth::policy::WriteLedger;
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::Result;
use crate::live;
use crate::numbers::unit;
use crate::path::Id;
use crate::reply::Reply;

/// Has Redis' copy of the tenant made anew from Postgres: nothing is deleted, running calls go on, new ones wait for up to
/// 3 s. Tenants of the same shard wait with it.
#[utoipa::path(post, path = "/tenants/{t}/rebuild", operation_id = "rebuild_tenant", tag = "ledger", request_body = Rebuild,
    params(("t" = TenantId, Path, description = "The tenant.")),
    responses((status = 200, description = "Both copies before and after.", body = Rebuilt)))]
pub async fn handler(
    mut call: Call<WriteLedger>,
    Id(id): Id<TenantId>,
    Json { value: body, .. }: Json<Rebuild>,
) -> Result<Reply<Rebuilt>> {
    let tenant = store::tenants::get(&mut call.tx, id, &call.reach).await?;
    let unit = unit(&tenant)?;
    let books = live::books(&call.app, &mut call.tx, id).await?;
    let before = live::view(&mut call.tx, unit, &books).await?;
    if body.dry_run {
        return Ok(Reply::ok(Rebuilt { dry_run: true, before, after: None }));
    }
    live::answered(call.app.quota().rebuild(id)).await?;
    let books = live::books(&call.app, &mut call.tx, id).await?;
    let after = live::view(&mut call.tx, unit, &books).await?;
    call.commit(Audit::new("tenant.rebuild", id).of(id).before(&before).after(&after)).await?;
    Ok(Reply::ok(Rebuilt { dry_run: false, before, after: Some(after) }))
}
