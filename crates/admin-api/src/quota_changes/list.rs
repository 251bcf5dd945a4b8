//! `GET /tenants/{t}/quota-changes`, `/projects/{p}/quota-changes`, `/keys/{k}/quota-changes`.

use api_types::Page;
use api_types::quota_change::QuotaChange;
use domain::{KeyId, ProjectId, TenantId};

use crate::auth::Call;
use crate::auth::policy::ReadQuota;
use crate::error::Result;
use crate::list::{ByCreation, Query};
use crate::numbers::unit;
use crate::path::Id;
use crate::quota_changes::{Target, view};
use crate::reply::Reply;

/// Lists the changes of a tenant's quota.
#[utoipa::path(get, path = "/tenants/{t}/quota-changes", operation_id = "list_tenant_quota_changes", tag = "quota changes",
    params(("t" = TenantId, Path, description = "The tenant."), ByCreation),
    responses((status = 200, description = "A page of changes.", body = Page<QuotaChange>)))]
pub async fn of_tenant(
    mut call: Call<ReadQuota>,
    Id(id): Id<TenantId>,
    Query(query): Query<ByCreation>,
) -> Result<Reply<Page<QuotaChange>>> {
    let target = Target::tenant(&mut call, id).await?;
    page(call, &target, &query).await
}

/// Lists the changes of a project's budget.
#[utoipa::path(get, path = "/projects/{p}/quota-changes", operation_id = "list_project_quota_changes", tag = "quota changes",
    params(("p" = ProjectId, Path, description = "The project."), ByCreation),
    responses((status = 200, description = "A page of changes.", body = Page<QuotaChange>)))]
pub async fn of_project(
    mut call: Call<ReadQuota>,
    Id(id): Id<ProjectId>,
    Query(query): Query<ByCreation>,
) -> Result<Reply<Page<QuotaChange>>> {
    let target = Target::project(&mut call, id).await?;
    page(call, &target, &query).await
}

/// Lists the changes of a key's budget.
#[utoipa::path(get, path = "/keys/{k}/quota-changes", operation_id = "list_key_quota_changes", tag = "quota changes",
    params(("k" = KeyId, Path, description = "The key."), ByCreation),
    responses((status = 200, description = "A page of changes.", body = Page<QuotaChange>)))]
pub async fn of_key(
    mut call: Call<ReadQuota>,
    Id(id): Id<KeyId>,
    Query(query): Query<ByCreation>,
) -> Result<Reply<Page<QuotaChange>>> {
    let target = Target::key(&mut call, id).await?;
    page(call, &target, &query).await
}

async fn page(mut call: Call<ReadQuota>, target: &Target, query: &ByCreation) -> Result<Reply<Page<QuotaChange>>> {
    let unit = unit(&target.tenant)?;
    let window = query.window()?;
    let rows = store::quota_changes::list(&mut call.tx, &target.present.scope.id(), window).await?;
    Ok(Reply::ok(query.page(rows, |change| change.id.uuid(), |change| view(change, unit))?))
}
