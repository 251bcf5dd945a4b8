//! `GET /tenants/{t}/live`.

use api_types::live::Live;
use domain::TenantId;

use crate::auth::Call;
use crate::auth::policy::ReadQuota;
use crate::error::Result;
use crate::live;
use crate::numbers::unit;
use crate::path::Id;
use crate::reply::Reply;

/// Redis' and Postgres' numbers of every scope side by side. Redis is read first.
#[utoipa::path(get, path = "/tenants/{t}/live", operation_id = "read_tenant_live", tag = "ledger",
    params(("t" = TenantId, Path, description = "The tenant.")),
    responses((status = 200, description = "Both copies.", body = Live)))]
pub async fn handler(mut call: Call<ReadQuota>, Id(id): Id<TenantId>) -> Result<Reply<Live>> {
    let tenant = store::tenants::get(&mut call.tx, id, &call.reach).await?;
    let books = live::books(&call.app, &mut call.tx, id).await?;
    Ok(Reply::ok(live::view(&mut call.tx, unit(&tenant)?, &books).await?))
}
