//! `GET /models/{m}`.

use api_types::model::Model;
use domain::ModelId;

use crate::auth::Call;
use crate::auth::policy::ReadModels;
use crate::error::Result;
use crate::models::view;
use crate::path::Id;
use crate::reply::Reply;

/// A model with the price in force.
#[utoipa::path(get, path = "/models/{m}", operation_id = "read_model", tag = "models",
    params(("m" = ModelId, Path, description = "The model.")),
    responses((status = 200, description = "The model.", body = Model, headers(("ETag" = String)))))]
pub async fn handler(mut call: Call<ReadModels>, Id(id): Id<ModelId>) -> Result<Reply<Model>> {
    let model = store::models::get(&mut call.tx, id).await?;
    let price = store::prices::in_force(&mut call.tx, &[id]).await?.pop();
    let version = model.version;
    Ok(Reply::ok(view(model, price)?).version(version))
}
