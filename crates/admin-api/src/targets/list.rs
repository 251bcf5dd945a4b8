//! `GET /models/{m}/targets`.

use api_types::Page;
use api_types::target::Target;
use domain::ModelId;

use crate::auth::Call;
use crate::auth::policy::ReadModels;
use crate::error::Result;
use crate::list::{ByCreation, Query};
use crate::path::Id;
use crate::reply::Reply;
use crate::targets::view;
use crate::upstreams::health::Ill;

/// Lists a model's targets.
#[utoipa::path(get, path = "/models/{m}/targets", operation_id = "list_targets", tag = "models",
    params(("m" = ModelId, Path, description = "The model."), ByCreation),
    responses((status = 200, description = "A page of targets.", body = Page<Target>)))]
pub async fn handler(
    mut call: Call<ReadModels>,
    Id(id): Id<ModelId>,
    Query(query): Query<ByCreation>,
) -> Result<Reply<Page<Target>>> {
    store::models::get(&mut call.tx, id).await?;
    let rows = store::targets::list(&mut call.tx, id, query.window()?).await?;
    let ill = Ill::read(&mut call.tx).await?;
    Ok(Reply::ok(query.page(rows, |target| target.id.uuid(), |target| view(target, &ill))?))
}
