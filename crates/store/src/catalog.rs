//! What is on offer: models, their targets, their prices, and the upstreams behind them. Read whole, for a gateway's memory.

use domain::{ModelId, TargetId, UpstreamId};
use serde_json::Value;
use sqlx::{Connection, PgConnection};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{Error, Store};

/// The catalog at one instant.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// Every model.
    pub models: Vec<Model>,
    /// Every enabled target.
    pub targets: Vec<Target>,
    /// For each model the price in force and those still to come, oldest first.
    pub prices: Vec<Price>,
    /// Every upstream.
    pub upstreams: Vec<Upstream>,
}

/// A model that tenants may ask for.
#[derive(Debug, Clone)]
pub struct Model {
    /// Its id.
    pub id: ModelId,
    /// Its name in requests.
    pub name: String,
    /// `chat`, `embedding`...
    pub mode: String,
    /// The vocabulary its text is counted with.
    pub tokenizer: String,
    /// Tokens of prompt and answer together.
    pub context_window: i64,
    /// Tokens it can answer with.
    pub max_output_tokens: i64,
    /// Answer tokens frozen at first where the guard can extend.
    pub freeze_output_tokens: i64,
    /// It thinks where nobody sees it.
    pub hidden_reasoning: bool,
    /// Factor on estimates, a decimal with 4 places.
    pub safety_factor: String,
    /// The length that 90 % of its latest answers stay below.
    pub p90_output_tokens: Option<i64>,
    /// Since when it exists.
    pub created_at: OffsetDateTime,
}

/// Where a model is served.
#[derive(Debug, Clone)]
pub struct Target {
    /// Its id.
    pub id: TargetId,
    /// The model it serves.
    pub model_id: ModelId,
    /// The upstream account it belongs to.
    pub upstream_id: UpstreamId,
    /// The upstream's name of the model.
    pub upstream_model: String,
    /// `openai`, `anthropic`.
    pub dialects: Vec<String>,
    /// Lower is tried first.
    pub priority: i32,
    /// Share among targets of one priority.
    pub weight: i32,
    /// Factor on the price, a decimal with 4 places.
    pub multiplier: String,
}

/// A price list of a model. Decimals as text, exact; a field that is none takes the price of its base kind.
#[derive(Debug, Clone)]
pub struct Price {
    /// The model.
    pub model_id: ModelId,
    /// From when on it is in force.
    pub valid_from: OffsetDateTime,
    /// Per 1 000 000 prompt tokens.
    pub input: Option<String>,
    /// Per 1 000 000 cached prompt tokens.
    pub cached_input: Option<String>,
    /// Per 1 000 000 tokens written to a cache of 5 minutes.
    pub cache_write_5m: Option<String>,
    /// Per 1 000 000 tokens written to a cache of 1 hour.
    pub cache_write_1h: Option<String>,
    /// Per 1 000 000 answer tokens.
    pub output: Option<String>,
    /// Per 1 000 000 reasoning tokens.
    pub reasoning: Option<String>,
    /// Per 1 000 000 audio prompt tokens.
    pub audio_input: Option<String>,
    /// Per 1 000 000 audio answer tokens.
    pub audio_output: Option<String>,
    /// Per image.
    pub image: Option<String>,
    /// Per request.
    pub per_request: Option<String>,
    /// For tenants metered in tokens: the weight of each kind.
    pub token_weights: Option<Value>,
}

/// An account at a provider.
#[derive(Debug, Clone)]
pub struct Upstream {
    /// Its id.
    pub id: UpstreamId,
    /// `openai` or `anthropic`.
    pub kind: String,
    /// Where its API is.
    pub base_url: String,
    /// Its key, sealed; none where it wants no key.
    pub sealed_key: Option<Vec<u8>>,
    /// For a connection to stand.
    pub connect_timeout_ms: i32,
    /// For the next bytes to come.
    pub read_timeout_ms: i32,
}

/// Reads the whole catalog as it stood at one instant.
///
/// # Errors
/// `Unavailable`.
pub async fn load(store: &Store) -> Result<Catalog, Error> {
    let mut lent = store.acquire().await?;
    let mut transaction = lent.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
    let conn: &mut PgConnection = &mut transaction;
    let catalog = Catalog {
        models: models(conn).await?,
        targets: targets(conn).await?,
        prices: prices(conn).await?,
        upstreams: upstreams(conn).await?,
    };
    transaction.commit().await?;
    Ok(catalog)
}

async fn models(conn: &mut PgConnection) -> Result<Vec<Model>, Error> {
    let models = sqlx::query!(
        r#"SELECT id, name, mode, tokenizer, context_window, max_output_tokens, freeze_output_tokens, hidden_reasoning,
                  safety_factor::text AS "safety_factor!", p90_output_tokens, created_at
           FROM models ORDER BY name"#
    )
    .map(|row| Model {
        id: ModelId::from_uuid(row.id),
        name: row.name,
        mode: row.mode,
        tokenizer: row.tokenizer,
        context_window: row.context_window,
        max_output_tokens: row.max_output_tokens,
        freeze_output_tokens: row.freeze_output_tokens,
        hidden_reasoning: row.hidden_reasoning,
        safety_factor: row.safety_factor,
        p90_output_tokens: row.p90_output_tokens,
        created_at: row.created_at,
    })
    .fetch_all(conn)
    .await?;
    Ok(models)
}

async fn targets(conn: &mut PgConnection) -> Result<Vec<Target>, Error> {
    let targets = sqlx::query!(
        r#"SELECT id, model_id, upstream_id, upstream_model, dialects, priority, weight, multiplier::text AS "multiplier!"
           FROM targets WHERE enabled ORDER BY priority, id"#
    )
    .map(|row| Target {
        id: TargetId::from_uuid(row.id),
        model_id: ModelId::from_uuid(row.model_id),
        upstream_id: UpstreamId::from_uuid(row.upstream_id),
        upstream_model: row.upstream_model,
        dialects: row.dialects,
        priority: row.priority,
        weight: row.weight,
        multiplier: row.multiplier,
    })
    .fetch_all(conn)
    .await?;
    Ok(targets)
}

async fn prices(conn: &mut PgConnection) -> Result<Vec<Price>, Error> {
    struct Row {
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
    }
    let rows = sqlx::query_as!(
        Row,
        r#"SELECT model_id, valid_from, input::text, cached_input::text, cache_write_5m::text, cache_write_1h::text, output::text,
                  reasoning::text, audio_input::text, audio_output::text, image::text, per_request::text, token_weights
           FROM prices p
           WHERE valid_from >= coalesce((SELECT max(q.valid_from) FROM prices q WHERE q.model_id = p.model_id AND q.valid_from <= now()), '-infinity')
           ORDER BY model_id, valid_from"#
    )
    .fetch_all(conn)
    .await?;
    let price = |row: Row| Price {
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
    };
    Ok(rows.into_iter().map(price).collect())
}

async fn upstreams(conn: &mut PgConnection) -> Result<Vec<Upstream>, Error> {
    let upstreams =
        sqlx::query!("SELECT id, kind, base_url, sealed_key, connect_timeout_ms, read_timeout_ms FROM upstreams")
            .map(|row| Upstream {
                id: UpstreamId::from_uuid(row.id),
                kind: row.kind,
                base_url: row.base_url,
                sealed_key: row.sealed_key,
                connect_timeout_ms: row.connect_timeout_ms,
                read_timeout_ms: row.read_timeout_ms,
            })
            .fetch_all(conn)
            .await?;
    Ok(upstreams)
}
