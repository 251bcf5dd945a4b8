//! `POST /models/{m}/prices`.

use api_types::price::{CreatePrice, Price};
use domain::ModelId;
use domain::price::TokenWeights;
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use crate::auth::policy::WritePrices;
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::{Error, Result};
use crate::path::Id;
use crate::prices::{self, view};
use crate::reply::Reply;
use crate::validate::Fields;

/// Clocks of callers may be this far behind.
const CLOCK_SLACK: Duration = Duration::minutes(1);

/// Adds a price; it supersedes the one in force from `valid_from` on, and is never changed. What was charged stays.
#[utoipa::path(post, path = "/models/{m}/prices", operation_id = "create_price", tag = "prices", request_body = CreatePrice,
    params(("m" = ModelId, Path, description = "The model.")),
    responses((status = 201, description = "The price.", body = Price)))]
pub async fn handler(
    mut call: Call<WritePrices>,
    Id(id): Id<ModelId>,
    Json { value: body, .. }: Json<CreatePrice>,
) -> Result<Reply<Price>> {
    store::models::get(&mut call.tx, id).await?;
    let first = store::prices::in_force(&mut call.tx, &[id]).await?.is_empty();
    let mut fields = Fields::new();
    let row = row(&mut fields, id, &body, first, OffsetDateTime::now_utc())?;
    fields.done()?;
    let view = view(store::prices::create(&mut call.tx, &row).await?)?;
    call.commit(Audit::new("price.create", id).after(&view)).await?;
    Ok(Reply::created(&format!("/models/{id}/prices"), view))
}

/// The row that a body asks for; refuses what a price can't be. A model's first price may begin in the past: nothing was charged
/// by another. Later ones may not.
pub fn row(
    fields: &mut Fields,
    model_id: ModelId,
    body: &CreatePrice,
    first: bool,
    now: OffsetDateTime,
) -> Result<store::prices::Price> {
    let valid_from = body.valid_from.map_or(now, |at| at.instant());
    let future = first || valid_from >= now - CLOCK_SLACK;
    fields.check(
        future,
        "valid_from",
        "out_of_range",
        "must not be in the past: what was charged stays; leave it out to begin at once",
    );
    let prices = prices::read(fields, "", body);
    let text = |price: Option<domain::price::Price>| price.map(|price| price.to_string());
    let row = store::prices::Price {
        id: Uuid::now_v7(),
        model_id,
        valid_from,
        input: text(prices.input),
        cached_input: text(prices.cached_input),
        cache_write_5m: text(prices.cache_write_5m),
        cache_write_1h: text(prices.cache_write_1h),
        output: text(prices.output),
        reasoning: text(prices.reasoning),
        audio_input: text(prices.audio_input),
        audio_output: text(prices.audio_output),
        image: text(prices.image),
        per_request: text(prices.per_request),
        token_weights: body.token_weights.as_ref().map(serde_json::to_value).transpose().map_err(Error::internal)?,
        created_at: now,
    };
    if let Some(weights) = &row.token_weights
        && let Err(why) = serde_json::from_value::<TokenWeights>(weights.clone())
    {
        fields.refuse("token_weights", "invalid", why.to_string());
    }
    Ok(row)
}
