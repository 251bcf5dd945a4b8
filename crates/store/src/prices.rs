//! Prices of a model: append-only, each superseded by a later `valid_from`.

use domain::ModelId;
use serde_json::Value;
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{Error, Window};

/// A price as stored: decimals as text, credits per 1 000 000 tokens; `image` and `per_request` each.
#[derive(Debug, Clone)]
pub struct Price {
    /// Id, in the order in which prices were added.
    pub id: Uuid,
    /// Its model.
    pub model_id: ModelId,
    /// From when.
    pub valid_from: OffsetDateTime,
    /// Prompt tokens.
    pub input: Option<String>,
    /// Prompt tokens read from the upstream's cache.
    pub cached_input: Option<String>,
    /// Prompt tokens written to the upstream's cache for 5 minutes.
    pub cache_write_5m: Option<String>,
    /// Prompt tokens written to the upstream's cache for an hour.
    pub cache_write_1h: Option<String>,
    /// Answer tokens.
    pub output: Option<String>,
    /// Thinking tokens.
    pub reasoning: Option<String>,
    /// Audio prompt tokens.
    pub audio_input: Option<String>,
    /// Audio answer tokens.
    pub audio_output: Option<String>,
    /// One image.
    pub image: Option<String>,
    /// One request.
    pub per_request: Option<String>,
    /// The weight of each kind for tenants metered in tokens.
    pub token_weights: Option<Value>,
    /// When it was added.
    pub created_at: OffsetDateTime,
}

struct Row {
    id: Uuid,
    model_id: Uuid,
    valid_from: OffsetDateTime,
    input: Option<String>,
    cached_input: Option<String>,
    cache_write_5m: Option<String>,
    cache_write_1h: Option<String>,
    output: Option<String>,
    reasoning: Option<String>,
    audio_input: Option<String>,
    audio_output: Option<String>,
    image: Option<String>,
    per_request: Option<String>,
    token_weights: Option<Value>,
    created_at: OffsetDateTime,
}

impl From<Row> for Price {
    fn from(row: Row) -> Self {
        Self {
            id: row.id,
            model_id: ModelId::from_uuid(row.model_id),
            valid_from: row.valid_from,
            input: row.input,
            cached_input: row.cached_input,
            cache_write_5m: row.cache_write_5m,
            cache_write_1h: row.cache_write_1h,
            output: row.output,
            reasoning: row.reasoning,
            audio_input: row.audio_input,
            audio_output: row.audio_output,
            image: row.image,
            per_request: row.per_request,
            token_weights: row.token_weights,
            created_at: row.created_at,
        }
    }
}

/// Adds a price.
///
/// # Errors
/// `AlreadyExists` where the model has a price from the same instant.
pub async fn create(conn: &mut PgConnection, price: &Price) -> Result<Price, Error> {
    let row = sqlx::query_as!(
        Row,
        "INSERT INTO prices (id, model_id, valid_from, input, cached_input, cache_write_5m, cache_write_1h, output,
                             reasoning, audio_input, audio_output, image, per_request, token_weights)
         VALUES ($1, $2, $3, $4::text::numeric, $5::text::numeric, $6::text::numeric, $7::text::numeric, $8::text::numeric,
                 $9::text::numeric, $10::text::numeric, $11::text::numeric, $12::text::numeric, $13::text::numeric, $14)
         RETURNING id, model_id, valid_from, input::text, cached_input::text, cache_write_5m::text, cache_write_1h::text,
                   output::text, reasoning::text, audio_input::text, audio_output::text, image::text, per_request::text,
                   token_weights, created_at",
        price.id,
        price.model_id.uuid(),
        price.valid_from,
        price.input,
        price.cached_input,
        price.cache_write_5m,
        price.cache_write_1h,
        price.output,
        price.reasoning,
        price.audio_input,
        price.audio_output,
        price.image,
        price.per_request,
        price.token_weights,
    )
    .fetch_one(conn)
    .await?;
    Ok(row.into())
}

/// Lists a model's prices, by when they were added.
///
/// # Errors
/// Those of Postgres.
pub async fn list(conn: &mut PgConnection, model: ModelId, window: Window) -> Result<Vec<Price>, Error> {
    let rows = sqlx::query_as!(
        Row,
        "SELECT id, model_id, valid_from, input::text, cached_input::text, cache_write_5m::text, cache_write_1h::text,
                output::text, reasoning::text, audio_input::text, audio_output::text, image::text, per_request::text,
                token_weights, created_at
         FROM prices WHERE model_id = $1 AND ($2::uuid IS NULL OR CASE WHEN $3 THEN id > $2 ELSE id < $2 END)
         ORDER BY CASE WHEN $3 THEN id END, id DESC LIMIT $4",
        model.uuid(),
        window.after,
        window.ascending,
        window.limit,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(Price::from).collect())
}

/// The prices in force now of these models.
///
/// # Errors
/// Those of Postgres.
pub async fn in_force(conn: &mut PgConnection, models: &[ModelId]) -> Result<Vec<Price>, Error> {
    let ids: Vec<Uuid> = models.iter().map(|id| id.uuid()).collect();
    let rows = sqlx::query_as!(
        Row,
        "SELECT DISTINCT ON (model_id) id, model_id, valid_from, input::text, cached_input::text, cache_write_5m::text,
                cache_write_1h::text, output::text, reasoning::text, audio_input::text, audio_output::text, image::text,
                per_request::text, token_weights, created_at
         FROM prices WHERE model_id = ANY ($1) AND valid_from <= now() ORDER BY model_id, valid_from DESC",
        &ids,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(Price::from).collect())
}

/// The price of a model, by its name, in force at an instant.
///
/// # Errors
/// Those of Postgres.
pub async fn at(conn: &mut PgConnection, model: &str, at: OffsetDateTime) -> Result<Option<Price>, Error> {
    let row = sqlx::query_as!(
        Row,
        "SELECT p.id, model_id, valid_from, input::text, cached_input::text, cache_write_5m::text, cache_write_1h::text,
                output::text, reasoning::text, audio_input::text, audio_output::text, image::text, per_request::text,
                token_weights, p.created_at
         FROM prices p JOIN models m ON m.id = p.model_id
         WHERE m.name = $1 AND valid_from <= $2 ORDER BY valid_from DESC LIMIT 1",
        model,
        at,
    );
    Ok(row.fetch_optional(conn).await?.map(Price::from))
}
