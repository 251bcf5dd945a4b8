//! `GET /projects/{p}`.

use api_types::project::Project;
use domain::ProjectId;

use crate::auth::Call;
use crate::auth::policy::ReadProjects;
use crate::error::Result;
use crate::numbers::{self, unit};
use crate::path::Id;
use crate::projects::view;
use crate::reply::Reply;
use crate::{limits, scopes};

/// A project with the numbers of its present period and the present use of its limits.
#[utoipa::path(get, path = "/projects/{p}", operation_id = "read_project", tag = "projects",
    params(("p" = ProjectId, Path, description = "The project.")),
    responses((status = 200, description = "The project.", body = Project, headers(("ETag" = String)))))]
pub async fn handler(mut call: Call<ReadProjects>, Id(id): Id<ProjectId>) -> Result<Reply<Project>> {
    let project = store::projects::get(&mut call.tx, id, &call.reach).await?;
    let tenant = store::tenants::get(&mut call.tx, project.tenant_id, &call.reach).await?;
    let (present, unit) = (scopes::project(&tenant, &project)?, unit(&tenant)?);
    let windows = numbers::limits(&call.app, tenant.id, &present.scope).await;
    let quota = numbers::one(&call.app, &mut call.tx, &tenant, present).await?;
    let version = project.version;
    let mut view = view(project, unit, quota)?;
    view.windows = Some(windows.iter().map(|limit| limits::window(limit, unit)).collect());
    Ok(Reply::ok(view).version(version))
}
