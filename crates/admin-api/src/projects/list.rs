//! `GET /tenants/{t}/projects`.

use api_types::Page;
use api_types::project::Project;
use domain::TenantId;

use crate::auth::Call;
use crate::auth::policy::ReadProjects;
use crate::error::Result;
use crate::list::{ByCreation, Query};
use crate::numbers::{self, unit};
use crate::path::Id;
use crate::projects::view;
use crate::reply::Reply;
use crate::scopes;

/// Lists a tenant's projects with the numbers of their present period.
#[utoipa::path(get, path = "/tenants/{t}/projects", operation_id = "list_projects", tag = "projects",
    params(("t" = TenantId, Path, description = "The tenant."), ByCreation),
    responses((status = 200, description = "A page of projects.", body = Page<Project>)))]
pub async fn handler(
    mut call: Call<ReadProjects>,
    Id(id): Id<TenantId>,
    Query(query): Query<ByCreation>,
) -> Result<Reply<Page<Project>>> {
    let tenant = store::tenants::get(&mut call.tx, id, &call.reach).await?;
    let rows = store::projects::list(&mut call.tx, id, query.window()?).await?;
    let page = query.page(rows, |project| project.id.uuid(), Ok)?;
    let presents = page.items.iter().map(|project| scopes::project(&tenant, project)).collect::<Result<Vec<_>>>()?;
    let numbers = numbers::of_scopes(&call.app, &mut call.tx, &tenant, presents).await?;
    let unit = unit(&tenant)?;
    let pairs = page.items.into_iter().zip(numbers);
    let items = pairs.map(|(project, numbers)| view(project, unit, numbers)).collect::<Result<_>>()?;
    Ok(Reply::ok(Page { items, next_cursor: page.next_cursor }))
}
