//! `GET /models`.

use api_types::Page;
use api_types::model::Model;
use domain::ModelId;

use crate::auth::Call;
use crate::auth::policy::ReadModels;
use crate::error::Result;
use crate::list::{ByCreation, Query};
use crate::models::view;
use crate::reply::Reply;

/// Lists models with the prices in force.
#[utoipa::path(get, path = "/models", operation_id = "list_models", tag = "models", params(ByCreation),
    responses((status = 200, description = "A page of models.", body = Page<Model>)))]
pub async fn handler(mut call: Call<ReadModels>, Query(query): Query<ByCreation>) -> Result<Reply<Page<Model>>> {
    let rows = store::models::list(&mut call.tx, query.window()?).await?;
    let ids: Vec<ModelId> = rows.iter().map(|model| model.id).collect();
    let prices = store::prices::in_force(&mut call.tx, &ids).await?;
    let price_of = |id: ModelId| prices.iter().find(|price| price.model_id == id).cloned();
    Ok(Reply::ok(query.page(
        rows,
        |model| model.id.uuid(),
        |model| {
            let price = price_of(model.id);
            view(model, price)
        },
    )?))
}
