//! `POST /projects/{p}/archive`.

use api_types::project::Project;
use domain::{ProjectId, Status};

use crate::auth::policy::WriteProjects;
use crate::auth::{Audit, Call};
use crate::error::Result;
use crate::numbers::unit;
use crate::path::Id;
use crate::projects::view;
use crate::reply::Reply;
use crate::{force, numbers, scopes};

/// Archives a project, for good: no gateway admits a call of its keys from the return on. Its usage and statements stay.
#[utoipa::path(post, path = "/projects/{p}/archive", operation_id = "archive_project", tag = "projects",
    params(("p" = ProjectId, Path, description = "The project.")),
    responses((status = 200, description = "The project.", body = Project, headers(("ETag" = String)))))]
pub async fn handler(mut call: Call<WriteProjects>, Id(id): Id<ProjectId>) -> Result<Reply<Project>> {
    let tenant_id = store::projects::get(&mut call.tx, id, &call.reach).await?.tenant_id;
    let tenant = store::tenants::lock(&mut call.tx, tenant_id, &call.reach).await?;
    let before = store::projects::get(&mut call.tx, id, &call.reach).await?;
    let present = scopes::project(&tenant, &before)?;
    let was = before.status.clone();
    let project = if was == "archived" {
        before
    } else {
        store::accounts::create(&mut call.tx, &present.account(tenant_id)).await?;
        let change = store::accounts::Change { status: Some(Status::Closed), ..store::accounts::Change::default() };
        store::accounts::change(&mut call.tx, &present.scope, &change).await?;
        store::projects::archive(&mut call.tx, id).await?
    };
    let scope = present.scope.clone();
    let quota = numbers::one(&call.app, &mut call.tx, &tenant, present).await?;
    let version = project.version;
    let mut view = view(project, unit(&tenant)?, quota)?;
    let audit = Audit::new("project.archive", id).of(tenant_id).before(&serde_json::json!({ "status": was }));
    let app = call.commit(audit.after(&serde_json::json!({ "status": view.status }))).await?;
    view.in_force = Some(force::push(&app, tenant_id, &[scope]).await);
    Ok(Reply::ok(view).version(version))
}
