//! `GET /models/{m}/prices`.

use api_types::Page;
use api_types::price::Price;
use domain::ModelId;

use crate::auth::Call;
use crate::auth::policy::ReadPrices;
use crate::error::Result;
use crate::list::{ByCreation, Query};
use crate::path::Id;
use crate::prices::view;
use crate::reply::Reply;

/// Lists a model's prices, past and to come.
#[utoipa::path(get, path = "/models/{m}/prices", operation_id = "list_prices", tag = "prices",
    params(("m" = ModelId, Path, description = "The model."), ByCreation),
    responses((status = 200, description = "A page of prices.", body = Page<Price>)))]
pub async fn handler(
    mut call: Call<ReadPrices>,
    Id(id): Id<ModelId>,
    Query(query): Query<ByCreation>,
) -> Result<Reply<Page<Price>>> {
    store::models::get(&mut call.tx, id).await?;
    let rows = store::prices::list(&mut call.tx, id, query.window()?).await?;
    Ok(Reply::ok(query.page(rows, |price| price.id, view)?))
}
