//! `POST /tenants/{t}/projects`.

use api_types::project::{CreateProject, Project};
use domain::{Limits, TenantId};

use crate::auth::policy::WriteProjects;
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::{Error, Result};
use crate::numbers::{self, unit};
use crate::path::Id;
use crate::projects::{budget, soft_budget, view};
use crate::reply::Reply;
use crate::validate::Fields;
use crate::{limits, scopes};

/// Creates a project and opens its account.
#[utoipa::path(post, path = "/tenants/{t}/projects", operation_id = "create_project", tag = "projects",
    request_body = CreateProject, params(("t" = TenantId, Path, description = "The tenant.")),
    responses((status = 201, description = "The project.", body = Project, headers(("ETag" = String)))))]
pub async fn handler(
    mut call: Call<WriteProjects>,
    Id(id): Id<TenantId>,
    Json { value: body, .. }: Json<CreateProject>,
) -> Result<Reply<Project>> {
    let tenant = store::tenants::lock(&mut call.tx, id, &call.reach).await?;
    if tenant.status == "closed" {
        return Err(Error::conflict("the tenant is closed, for good"));
    }
    let (unit, mut fields) = (unit(&tenant)?, Fields::new());
    let name = fields.text("name", &body.name, 200);
    let budget = budget(&mut fields, body.budget.as_ref(), unit);
    let limits = limits::apply(&mut fields, &Limits::default(), body.limits.as_ref(), unit);
    let soft = match &body.soft_budget {
        Some(soft) => Some(soft_budget::read(&mut call, &mut fields, soft, budget.is_some()).await?),
        None => None,
    };
    fields.done()?;
    let project = store::projects::create(&mut call.tx, id, &name, budget.as_ref(), soft.as_ref(), &limits).await?;
    let present = scopes::project(&tenant, &project)?;
    store::accounts::create(&mut call.tx, &present.account(id)).await?;
    let quota = numbers::one(&call.app, &mut call.tx, &tenant, present).await?;
    let view = view(project, unit, quota)?;
    call.commit(Audit::new("project.create", view.id).of(id).after(&view)).await?;
    Ok(Reply::created(&format!("/projects/{}", view.id), view.clone()).version(view.version))
}
