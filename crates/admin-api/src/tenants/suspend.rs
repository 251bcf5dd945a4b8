//! `POST /tenants/{t}/suspend`.

use api_types::tenant::{Reason, Tenant};
use domain::{Status, TenantId};

use crate::auth::Call;
use crate::auth::policy::WriteTenants;
use crate::body::Json;
use crate::error::Result;
use crate::path::Id;
use crate::reply::Reply;
use crate::tenants::status;

/// Suspends a tenant: no gateway admits a call of its from the return on. Running calls end as they would.
#[utoipa::path(post, path = "/tenants/{t}/suspend", operation_id = "suspend_tenant", tag = "tenants", request_body = Reason,
    params(("t" = TenantId, Path, description = "The tenant.")),
    responses((status = 200, description = "The tenant.", body = Tenant, headers(("ETag" = String)))))]
pub async fn handler(
    call: Call<WriteTenants>,
    Id(id): Id<TenantId>,
    Json { value: body, .. }: Json<Reason>,
) -> Result<Reply<Tenant>> {
    status::set(call, id, &body, Status::Suspended, "tenant.suspend").await
}
