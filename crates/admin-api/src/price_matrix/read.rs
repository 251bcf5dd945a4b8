//! `GET /price-matrix`.

use api_types::matrix::PriceMatrix;

use super::stored::Stored;
use crate::auth::Call;
use crate::auth::policy::ReadPrices;
use crate::error::Result;
use crate::reply::Reply;

/// Reads every model with its price in force and its targets, as a file that can be kept, changed and sent back.
#[utoipa::path(get, path = "/price-matrix", operation_id = "read_price_matrix", tag = "prices",
    responses((status = 200, description = "The matrix.", body = PriceMatrix)))]
pub async fn handler(mut call: Call<ReadPrices>) -> Result<Reply<PriceMatrix>> {
    let stored = Stored::read(&mut call.tx).await?;
    Ok(Reply::ok(PriceMatrix { models: stored.models.into_iter().map(|model| model.shown).collect() }))
}
