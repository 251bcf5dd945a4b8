//! `GET /tenants/{t}/freezes`.

use api_types::live::LiveFreezes;
use domain::TenantId;

use crate::auth::Call;
use crate::auth::policy::ReadQuota;
use crate::error::Result;
use crate::live;
use crate::numbers::unit;
use crate::path::Id;
use crate::reply::Reply;

/// The tenant's running freezes, the oldest first.
#[utoipa::path(get, path = "/tenants/{t}/freezes", operation_id = "list_freezes", tag = "ledger",
    params(("t" = TenantId, Path, description = "The tenant.")),
    responses((status = 200, description = "The freezes.", body = LiveFreezes)))]
pub async fn handler(mut call: Call<ReadQuota>, Id(id): Id<TenantId>) -> Result<Reply<LiveFreezes>> {
    let tenant = store::tenants::get(&mut call.tx, id, &call.reach).await?;
    let unit = unit(&tenant)?;
    let books = live::answered(call.app.quota().books(id, &[])).await?;
    let now_ms = live::answered(call.app.quota().now_ms()).await?;
    let items = books.freezes.iter().map(|found| live::freeze(found, unit, now_ms)).collect::<Result<_>>()?;
    Ok(Reply::ok(LiveFreezes { items }))
}
