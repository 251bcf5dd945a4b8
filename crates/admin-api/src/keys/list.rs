//! `GET /projects/{p}/keys`.

use api_types::Page;
use api_types::key::Key;
use domain::ProjectId;

use crate::auth::Call;
use crate::auth::policy::ReadKeys;
use crate::error::Result;
use crate::keys::view;
use crate::list::{ByCreation, Query};
use crate::numbers::{self, unit};
use crate::path::Id;
use crate::reply::Reply;
use crate::scopes;

/// Lists a project's keys, without their secrets, with the numbers of their present period.
#[utoipa::path(get, path = "/projects/{p}/keys", operation_id = "list_keys", tag = "keys",
    params(("p" = ProjectId, Path, description = "The project."), ByCreation),
    responses((status = 200, description = "A page of keys.", body = Page<Key>)))]
pub async fn handler(
    mut call: Call<ReadKeys>,
    Id(id): Id<ProjectId>,
    Query(query): Query<ByCreation>,
) -> Result<Reply<Page<Key>>> {
    let project = store::projects::get(&mut call.tx, id, &call.reach).await?;
    let tenant = store::tenants::get(&mut call.tx, project.tenant_id, &call.reach).await?;
    let rows = store::keys::list(&mut call.tx, id, query.window()?).await?;
    let page = query.page(rows, |key| key.id.uuid(), Ok)?;
    let presents = page.items.iter().map(|key| scopes::key(&tenant, key)).collect::<Result<Vec<_>>>()?;
    let numbers = numbers::of_scopes(&call.app, &mut call.tx, &tenant, presents).await?;
    let unit = unit(&tenant)?;
    let pairs = page.items.into_iter().zip(numbers);
    let items = pairs.map(|(key, numbers)| view(key, unit, numbers)).collect::<Result<_>>()?;
    Ok(Reply::ok(Page { items, next_cursor: page.next_cursor }))
}
