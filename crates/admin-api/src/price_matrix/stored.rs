//! The matrix as it stands.

use std::collections::HashMap;

use api_types::Factor;
use api_types::matrix::{MatrixModel, MatrixTarget};
use api_types::price::CreatePrice;
use domain::UpstreamId;
use store::{PgConnection, Window};

use crate::error::{Error, Result};
use crate::{prices, targets};

/// More than any deployment has; a matrix is read and written in one piece.
pub const MOST: i64 = 5_000;

/// Everything, sorted by name.
pub struct Stored {
    pub models: Vec<Entry>,
    pub upstreams: HashMap<String, store::upstreams::Upstream>,
}

/// A model with what belongs to it.
pub struct Entry {
    pub row: store::models::Model,
    pub targets: Vec<store::targets::Target>,
    /// As the file has it.
    pub shown: MatrixModel,
}

impl Stored {
    pub async fn read(conn: &mut PgConnection) -> Result<Self> {
        let window = Window { after: None, ascending: true, limit: MOST + 1 };
        let models = store::models::list(conn, window).await?;
        let most = usize::try_from(MOST).unwrap_or(usize::MAX);
        if models.len() > most {
            return Err(Error::conflict(format!("there are more than {MOST} models, too many for one file")));
        }
        let ids: Vec<_> = models.iter().map(|model| model.id).collect();
        let in_force = store::prices::in_force(conn, &ids).await?;
        let mut prices: HashMap<_, _> = in_force.into_iter().map(|price| (price.model_id, price)).collect();
        let upstreams = store::upstreams::list(conn, window).await?;
        let names: HashMap<UpstreamId, String> =
            upstreams.iter().map(|upstream| (upstream.id, upstream.name.clone())).collect();
        let mut entries = Vec::with_capacity(models.len());
        for row in models {
            let targets = store::targets::list(conn, row.id, window).await?;
            let shown = shown(&row, prices.remove(&row.id), &targets, &names)?;
            entries.push(Entry { row, targets, shown });
        }
        entries.sort_by(|a, b| a.row.name.cmp(&b.row.name));
        let upstreams = upstreams.into_iter().map(|upstream| (upstream.name.clone(), upstream)).collect();
        Ok(Self { models: entries, upstreams })
    }
}

fn shown(
    row: &store::models::Model,
    price: Option<store::prices::Price>,
    targets: &[store::targets::Target],
    names: &HashMap<UpstreamId, String>,
) -> Result<MatrixModel> {
    let mut of_model: Vec<MatrixTarget> =
        targets.iter().map(|target| shown_target(target, names)).collect::<Result<_>>()?;
    of_model.sort_by(|a, b| key(a).cmp(&key(b)));
    Ok(MatrixModel {
        name: row.name.clone(),
        mode: row.mode.parse().map_err(|_| Error::internal("a model's mode that this version does not know"))?,
        tokenizer: row.tokenizer.clone(),
        context_window: row.context_window,
        max_output_tokens: row.max_output_tokens,
        freeze_output_tokens: row.freeze_output_tokens,
        hidden_reasoning: row.hidden_reasoning,
        safety_factor: Factor::from_text(row.safety_factor.clone()),
        prices: price.map(prices::view).transpose()?.map(again),
        targets: of_model,
    })
}

/// A target by what names it in the file.
pub fn key(target: &MatrixTarget) -> (&str, &str) {
    (&target.upstream, &target.upstream_model)
}

fn shown_target(target: &store::targets::Target, names: &HashMap<UpstreamId, String>) -> Result<MatrixTarget> {
    let missing = || Error::internal("a target without its upstream");
    Ok(MatrixTarget {
        upstream: names.get(&target.upstream_id).cloned().ok_or_else(missing)?,
        upstream_model: target.upstream_model.clone(),
        dialects: targets::spoken(target)?,
        priority: target.priority,
        weight: target.weight,
        multiplier: Factor::from_text(target.multiplier.clone()),
        enabled: target.enabled,
    })
}

/// A price as one would add it, to begin at once.
fn again(price: api_types::price::Price) -> CreatePrice {
    CreatePrice {
        valid_from: None,
        input: price.input,
        cached_input: price.cached_input,
        cache_write_5m: price.cache_write_5m,
        cache_write_1h: price.cache_write_1h,
        output: price.output,
        reasoning: price.reasoning,
        audio_input: price.audio_input,
        audio_output: price.audio_output,
        image: price.image,
        per_request: price.per_request,
        token_weights: price.token_weights,
    }
}
