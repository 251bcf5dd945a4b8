//! `GET /tenants/{t}/grants`.

use api_types::Page;
use api_types::grant::Grant;
use domain::TenantId;

use crate::auth::Call;
use crate::auth::policy::ReadGrants;
use crate::error::Result;
use crate::grants::view;
use crate::list::{ByCreation, Query};
use crate::numbers::unit;
use crate::path::Id;
use crate::reply::Reply;

/// Lists a tenant's grants with what is left of each.
#[utoipa::path(get, path = "/tenants/{t}/grants", operation_id = "list_grants", tag = "grants",
    params(("t" = TenantId, Path, description = "The tenant."), ByCreation),
    responses((status = 200, description = "A page of grants.", body = Page<Grant>)))]
pub async fn handler(
    mut call: Call<ReadGrants>,
    Id(id): Id<TenantId>,
    Query(query): Query<ByCreation>,
) -> Result<Reply<Page<Grant>>> {
    let tenant = store::tenants::get(&mut call.tx, id, &call.reach).await?;
    let unit = unit(&tenant)?;
    let window = query.window()?;
    let mut rows = store::grants::list(&mut call.tx, id).await?;
    // Ids are made in time order; a tenant has few grants.
    rows.sort_by_key(|grant| grant.id);
    if !window.ascending {
        rows.reverse();
    }
    if let Some(after) = window.after {
        rows.retain(|grant| if window.ascending { grant.id.uuid() > after } else { grant.id.uuid() < after });
    }
    Ok(Reply::ok(query.page(rows, |grant| grant.id.uuid(), |grant| view(grant, unit))?))
}
