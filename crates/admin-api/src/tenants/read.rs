//! `GET /tenants/{t}`.

use api_types::tenant::Tenant;
use domain::{Scope, TenantId};

use crate::auth::Call;
use crate::auth::policy::ReadTenants;
use crate::error::Result;
use crate::limits;
use crate::numbers::{self, unit};
use crate::path::Id;
use crate::reply::Reply;
use crate::tenants::view;

/// A tenant with its four numbers and the present use of its limits.
#[utoipa::path(get, path = "/tenants/{t}", operation_id = "read_tenant", tag = "tenants",
    params(("t" = TenantId, Path, description = "The tenant.")),
    responses((status = 200, description = "The tenant.", body = Tenant, headers(("ETag" = String)))))]
pub async fn handler(mut call: Call<ReadTenants>, Id(id): Id<TenantId>) -> Result<Reply<Tenant>> {
    let tenant = store::tenants::get(&mut call.tx, id, &call.reach).await?;
    let quota = numbers::of_tenant(&call.app, &mut call.tx, &tenant).await?;
    let windows = numbers::limits(&call.app, id, &Scope::Tenant(id)).await;
    let (version, unit) = (tenant.version, unit(&tenant)?);
    let mut view = view(tenant, quota)?;
    view.windows = Some(windows.iter().map(|limit| limits::window(limit, unit)).collect());
    Ok(Reply::ok(view).version(version))
}
