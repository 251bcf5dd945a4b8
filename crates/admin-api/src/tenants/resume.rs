//! `POST /tenants/{t}/resume`.

use api_types::tenant::{Reason, Tenant};
use domain::{Status, TenantId};

use crate::auth::Call;
use crate::auth::policy::WriteTenants;
use crate::body::Json;
use crate::error::Result;
use crate::path::Id;
use crate::reply::Reply;
use crate::tenants::status;

/// Resumes a suspended tenant, and accounts of it that were halted because their sums did not add up.
#[utoipa::path(post, path = "/tenants/{t}/resume", operation_id = "resume_tenant", tag = "tenants", request_body = Reason,
    params(("t" = TenantId, Path, description = "The tenant.")),
    responses((status = 200, description = "The tenant.", body = Tenant, headers(("ETag" = String)))))]
pub async fn handler(
    call: Call<WriteTenants>,
    Id(id): Id<TenantId>,
    Json { value: body, .. }: Json<Reason>,
) -> Result<Reply<Tenant>> {
    status::set(call, id, &body, Status::Active, "tenant.resume").await
}
