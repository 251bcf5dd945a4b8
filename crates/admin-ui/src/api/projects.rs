//! Projects of a tenant.

use api_types::Page;
use api_types::project::{CreateProject, Project};

use super::call::{Call, Failure};

/// Projects of a tenant.
///
/// # Errors
/// As every call.
pub async fn list(tenant: &str) -> Result<Page<Project>, Failure> {
    Call::get(format!("/tenants/{}/projects?limit=200", js_sys::encode_uri_component(tenant))).read().await
}

/// One project.
///
/// # Errors
/// `not_found` for a foreign or unknown one.
pub async fn one(id: &str) -> Result<Project, Failure> {
    Call::get(format!("/projects/{}", js_sys::encode_uri_component(id))).read().await
}

/// Creates a project.
///
/// # Errors
/// The fields that were refused.
pub async fn create(tenant: &str, project: &CreateProject, key: &str) -> Result<Project, Failure> {
    let path = format!("/tenants/{}/projects", js_sys::encode_uri_component(tenant));
    Call::post(path).json(project).idempotent(key).read().await
}
