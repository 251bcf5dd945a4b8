//! Projects of a tenant.

use api_types::Page;
use api_types::project::{ChangeProject, CreateProject, Project};

use super::call::{Call, Failure, part};

/// Projects of a tenant.
///
/// # Errors
/// As every call.
pub async fn list(tenant: &str) -> Result<Page<Project>, Failure> {
    Call::get(format!("/tenants/{}/projects?limit=200", part(tenant))).read().await
}

/// One project.
///
/// # Errors
/// `not_found` for a foreign or unknown one.
pub async fn one(id: &str) -> Result<Project, Failure> {
    Call::get(format!("/projects/{}", part(id))).read().await
}

/// Creates a project.
///
/// # Errors
/// The fields that were refused.
pub async fn create(tenant: &str, project: &CreateProject, key: &str) -> Result<Project, Failure> {
    let path = format!("/tenants/{}/projects", part(tenant));
    Call::post(path).json(project).idempotent(key).read().await
}

/// Changes a project.
///
/// # Errors
/// The fields that were refused; `precondition_failed` where it was changed meanwhile.
pub async fn change(id: &str, version: i64, change: &ChangeProject) -> Result<Project, Failure> {
    Call::patch(format!("/projects/{}", part(id))).json(change).on_version(version).read().await
}
