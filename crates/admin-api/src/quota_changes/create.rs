//! `POST /tenants/{t}/quota-changes`, `/projects/{p}/quota-changes`, `/keys/{k}/quota-changes`.

use api_types::quota_change::{CreateQuotaChange, QuotaChange};
use axum::response::Response;
use domain::{KeyId, ProjectId, TenantId};

use crate::auth::Call;
use crate::auth::policy::{ChangeOwnQuota, ChangeQuota};
use crate::body::Json;
use crate::error::Result;
use crate::once::Key;
use crate::path::Id;
use crate::quota_changes::{Target, make};

/// Changes a tenant's quota. A decrease below what is used and in flight is refused exactly (409 `below_committed` with the
/// numbers and what to do). In force on every gateway at return.
#[utoipa::path(post, path = "/tenants/{t}/quota-changes", operation_id = "change_tenant_quota", tag = "quota changes",
    request_body = CreateQuotaChange, params(("t" = TenantId, Path, description = "The tenant."),
        ("Idempotency-Key" = String, Header, description = "A value of your own, the same when you try again.")),
    responses((status = 201, description = "The change, with the numbers before and after it.", body = QuotaChange)))]
pub async fn of_tenant(
    mut call: Call<ChangeQuota>,
    Id(id): Id<TenantId>,
    key: Key,
    body: Json<CreateQuotaChange>,
) -> Result<Response> {
    let target = Target::tenant(&mut call, id).await?;
    make::make(call, target, &key, body).await
}

/// Changes a project's budget in its present period.
#[utoipa::path(post, path = "/projects/{p}/quota-changes", operation_id = "change_project_quota", tag = "quota changes",
    request_body = CreateQuotaChange, params(("p" = ProjectId, Path, description = "The project."),
        ("Idempotency-Key" = String, Header, description = "A value of your own, the same when you try again.")),
    responses((status = 201, description = "The change, with the numbers before and after it.", body = QuotaChange)))]
pub async fn of_project(
    mut call: Call<ChangeOwnQuota>,
    Id(id): Id<ProjectId>,
    key: Key,
    body: Json<CreateQuotaChange>,
) -> Result<Response> {
    let target = Target::project(&mut call, id).await?;
    make::make(call, target, &key, body).await
}

/// Changes a key's budget in its present period.
#[utoipa::path(post, path = "/keys/{k}/quota-changes", operation_id = "change_key_quota", tag = "quota changes",
    request_body = CreateQuotaChange, params(("k" = KeyId, Path, description = "The key."),
        ("Idempotency-Key" = String, Header, description = "A value of your own, the same when you try again.")),
    responses((status = 201, description = "The change, with the numbers before and after it.", body = QuotaChange)))]
pub async fn of_key(
    mut call: Call<ChangeOwnQuota>,
    Id(id): Id<KeyId>,
    key: Key,
    body: Json<CreateQuotaChange>,
) -> Result<Response> {
    let target = Target::key(&mut call, id).await?;
    make::make(call, target, &key, body).await
}
