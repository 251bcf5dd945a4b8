//! `PATCH /projects/{p}`.

use api_types::project::{ChangeProject, Project};
use domain::{ProjectId, Unit};

use crate::auth::policy::WriteProjects;
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::Result;
use crate::numbers::unit;
use crate::path::Id;
use crate::precondition::IfMatch;
use crate::projects::{soft_budget, view};
use crate::reply::Reply;
use crate::validate::Fields;
use crate::{force, limits, numbers, scopes};

/// Changes a project. Its limits are in force on every gateway at return.
#[utoipa::path(patch, path = "/projects/{p}", operation_id = "change_project", tag = "projects", request_body = ChangeProject,
    params(("p" = ProjectId, Path, description = "The project."), ("If-Match" = String, Header, description = "The ETag that was read.")),
    responses((status = 200, description = "The project.", body = Project, headers(("ETag" = String)))))]
pub async fn handler(
    mut call: Call<WriteProjects>,
    Id(id): Id<ProjectId>,
    if_match: IfMatch,
    Json { value: body, .. }: Json<ChangeProject>,
) -> Result<Reply<Project>> {
    let tenant_id = store::projects::get(&mut call.tx, id, &call.reach).await?.tenant_id;
    let tenant = store::tenants::lock(&mut call.tx, tenant_id, &call.reach).await?;
    let before = store::projects::get(&mut call.tx, id, &call.reach).await?;
    if_match.check(before.version)?;
    let unit = unit(&tenant)?;
    let wanted = apply(&mut call, &before, &body, unit).await?;
    let project = store::projects::update(&mut call.tx, &wanted).await?;
    let present = scopes::project(&tenant, &project)?;
    let changed = store::accounts::set_limits(&mut call.tx, tenant_id, &present.scope, &present.limits).await?;
    let quota = numbers::one(&call.app, &mut call.tx, &tenant, present).await?;
    let version = project.version;
    let audit = Audit::new("project.change", id).of(tenant_id).before(&view(before, unit, quota.clone())?);
    let mut view = view(project, unit, quota)?;
    let app = call.commit(audit.after(&view)).await?;
    view.in_force = Some(force::push(&app, tenant_id, &changed).await);
    Ok(Reply::ok(view).version(version))
}

async fn apply(
    call: &mut Call<WriteProjects>,
    before: &store::projects::Project,
    body: &ChangeProject,
    unit: Unit,
) -> Result<store::projects::Project> {
    let (mut fields, mut project) = (Fields::new(), before.clone());
    if let Some(name) = &body.name {
        project.name = fields.text("name", name, 200);
    }
    if let Some(change) = &body.limits {
        project.limits = limits::apply(&mut fields, &before.limits, change.as_ref(), unit);
    }
    if let Some(change) = &body.soft_budget {
        project.soft_budget = match change {
            Some(soft) => Some(soft_budget::read(call, &mut fields, soft, before.budget.is_some()).await?),
            None => None,
        };
    }
    fields.done()?;
    Ok(project)
}
