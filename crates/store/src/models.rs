//! Models offered to tenants.

use domain::ModelId;
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{Error, Window};

/// Requests that are looked at to learn how long answers are.
const LEARN_FROM: i64 = 100_000;
/// Answers of a model without which nothing is learnt of it.
const LEARN_LEAST: i64 = 20;

/// A model as stored.
#[derive(Debug, Clone)]
pub struct Model {
    /// Id.
    pub id: ModelId,
    /// The name that callers use.
    pub name: String,
    /// `chat`, `completion`, `embedding`, ...
    pub mode: String,
    /// Name of its tokenizer's vocabulary.
    pub tokenizer: String,
    /// Tokens of prompt and answer together.
    pub context_window: i64,
    /// The longest answer.
    pub max_output_tokens: i64,
    /// Set aside for an answer whose caller gives no maximum.
    pub freeze_output_tokens: i64,
    /// Whether it thinks in tokens that are charged but not shown.
    pub hidden_reasoning: bool,
    /// Decimal, at least 1.
    pub safety_factor: String,
    /// The length in tokens that 90 % of its latest answers stay below; none: too few answers yet.
    pub p90_output_tokens: Option<i64>,
    /// When it was created.
    pub created_at: OffsetDateTime,
    /// + 1 per change.
    pub version: i64,
}

struct Row {
    id: Uuid,
    name: String,
    mode: String,
    tokenizer: String,
    context_window: i64,
    max_output_tokens: i64,
    freeze_output_tokens: i64,
    hidden_reasoning: bool,
    safety_factor: String,
    p90_output_tokens: Option<i64>,
    created_at: OffsetDateTime,
    version: i64,
}

impl From<Row> for Model {
    fn from(row: Row) -> Self {
        Self {
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
            version: row.version,
        }
    }
}

/// Adds a model.
///
/// # Errors
/// `AlreadyExists` where the name is taken.
pub async fn create(conn: &mut PgConnection, model: &Model) -> Result<Model, Error> {
    sqlx::query!(
        "INSERT INTO models (id, name, mode, tokenizer, context_window, max_output_tokens, freeze_output_tokens,
                             hidden_reasoning, safety_factor)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9::text::numeric)",
        model.id.uuid(),
        model.name,
        model.mode,
        model.tokenizer,
        model.context_window,
        model.max_output_tokens,
        model.freeze_output_tokens,
        model.hidden_reasoning,
        model.safety_factor,
    )
    .execute(&mut *conn)
    .await?;
    get(conn, model.id).await
}

/// Reads a model.
///
/// # Errors
/// `NotFound`.
pub async fn get(conn: &mut PgConnection, id: ModelId) -> Result<Model, Error> {
    let row = sqlx::query_as!(
        Row,
        r#"SELECT id, name, mode, tokenizer, context_window, max_output_tokens, freeze_output_tokens, hidden_reasoning,
                  safety_factor::text AS "safety_factor!", p90_output_tokens, created_at, version FROM models WHERE id = $1"#,
        id.uuid(),
    )
    .fetch_one(conn)
    .await?;
    Ok(row.into())
}

/// Lists models.
///
/// # Errors
/// Those of Postgres.
pub async fn list(conn: &mut PgConnection, window: Window) -> Result<Vec<Model>, Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"SELECT id, name, mode, tokenizer, context_window, max_output_tokens, freeze_output_tokens, hidden_reasoning,
                  safety_factor::text AS "safety_factor!", p90_output_tokens, created_at, version
           FROM models WHERE $1::uuid IS NULL OR CASE WHEN $2 THEN id > $1 ELSE id < $1 END
           ORDER BY CASE WHEN $2 THEN id END, id DESC LIMIT $3"#,
        window.after,
        window.ascending,
        window.limit,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(Model::from).collect())
}

/// The names among these that no model has.
///
/// # Errors
/// Those of Postgres.
pub async fn unknown_names(conn: &mut PgConnection, names: &[String]) -> Result<Vec<String>, Error> {
    let unknown = sqlx::query_scalar!(
        r#"SELECT n AS "name!" FROM unnest($1::text[]) AS n WHERE NOT EXISTS (SELECT FROM models WHERE name = n)"#,
        names,
    );
    Ok(unknown.fetch_all(conn).await?)
}

/// Writes what may change, if the row still has the version that was read.
///
/// # Errors
/// `Stale` where it was changed meanwhile.
pub async fn update(conn: &mut PgConnection, model: &Model) -> Result<(), Error> {
    let updated = sqlx::query!(
        "UPDATE models SET tokenizer = $3, context_window = $4, max_output_tokens = $5, freeze_output_tokens = $6,
                hidden_reasoning = $7, safety_factor = $8::text::numeric, updated_at = now(), version = version + 1
         WHERE id = $1 AND version = $2",
        model.id.uuid(),
        model.version,
        model.tokenizer,
        model.context_window,
        model.max_output_tokens,
        model.freeze_output_tokens,
        model.hidden_reasoning,
        model.safety_factor,
    )
    .execute(conn)
    .await?;
    if updated.rows_affected() == 1 { Ok(()) } else { Err(Error::Stale) }
}

/// Works out anew what 90 % of the answers of each model stay below: of the latest requests that were answered to the end
/// and whose usage the provider reported. A model with too few of them keeps what it has. Returns how many models changed.
/// No change of a setting: the version stays.
///
/// # Errors
/// Those of Postgres.
pub async fn learn_outputs(conn: &mut PgConnection) -> Result<u64, Error> {
    let updated = sqlx::query!(
        r#"WITH latest AS (
               SELECT model, outcome, estimated, usage FROM usage_records ORDER BY request_id DESC LIMIT $1),
           learnt AS (
               SELECT model, percentile_disc(0.9) WITHIN GROUP (ORDER BY
                      coalesce((usage ->> 'output')::bigint, 0) + coalesce((usage ->> 'reasoning')::bigint, 0)
                      + coalesce((usage ->> 'audio_output')::bigint, 0)) AS p90
               FROM latest WHERE outcome = 'final' AND NOT estimated GROUP BY model HAVING count(*) >= $2)
           UPDATE models SET p90_output_tokens = learnt.p90 FROM learnt
           WHERE models.name = learnt.model AND models.p90_output_tokens IS DISTINCT FROM learnt.p90"#,
        LEARN_FROM,
        LEARN_LEAST,
    )
    .execute(conn)
    .await?;
    Ok(updated.rows_affected())
}

/// Removes a model with its targets and prices; recorded requests keep its name.
///
/// # Errors
/// `NotFound`.
pub async fn delete(conn: &mut PgConnection, id: ModelId) -> Result<(), Error> {
    sqlx::query_scalar!("DELETE FROM models WHERE id = $1 RETURNING id", id.uuid()).fetch_one(conn).await?;
    Ok(())
}
