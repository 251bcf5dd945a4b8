//! What is to be done to make a model what the file says.

use api_types::matrix::{MatrixDifference, MatrixModel, MatrixTarget};
use api_types::model::CreateModel;
use api_types::target::CreateTarget;
use domain::{ModelId, TargetId};
use store::PgConnection;
use time::OffsetDateTime;

use super::stored::{Entry, Stored, key};
use crate::error::Result;
use crate::validate::Fields;
use crate::{models, prices, targets};

/// What is done with a model.
pub enum Step<'a> {
    Keep,
    Add(Box<Work>),
    Change(Box<Work>, Vec<MatrixDifference>),
    Remove(&'a Entry),
}

/// Rows to be written.
pub struct Work {
    pub model: store::models::Model,
    is_new: bool,
    price: Option<store::prices::Price>,
    create: Vec<store::targets::Target>,
    update: Vec<store::targets::Target>,
    delete: Vec<TargetId>,
}

/// Reads a model of the file; refuses what can't be.
pub fn step<'a>(
    fields: &mut Fields,
    stored: &'a Stored,
    before: Option<&'a Entry>,
    model: &MatrixModel,
    differences: Vec<MatrixDifference>,
) -> Result<Step<'a>> {
    let mut row = models::create::row(fields, &create_model(model));
    if let Some(entry) = before {
        let same = entry.row.mode == row.mode;
        fields.check(same, "mode", "conflict", "stays as it is; remove the model and add it under another name");
        (row.id, row.version) = (entry.row.id, entry.row.version);
    }
    let is_priced_anew = before.is_none() || differences.iter().any(|one| one.field.starts_with("prices."));
    let price = match &model.prices {
        Some(price) if is_priced_anew => {
            let is_first = before.is_none_or(|entry| entry.shown.prices.is_none());
            Some(fields.within("prices", |fields| {
                prices::create::row(fields, row.id, price, is_first, OffsetDateTime::now_utc())
            })?)
        }
        _ => None,
    };
    let (create, update, delete) = of_targets(fields, stored, before, model, row.id);
    let work = Work { model: row, is_new: before.is_none(), price, create, update, delete };
    Ok(match before {
        None => Step::Add(Box::new(work)),
        Some(_) if differences.is_empty() => Step::Keep,
        Some(_) => Step::Change(Box::new(work), differences),
    })
}

fn create_model(model: &MatrixModel) -> CreateModel {
    CreateModel {
        name: model.name.clone(),
        mode: model.mode,
        tokenizer: model.tokenizer.clone(),
        context_window: model.context_window,
        max_output_tokens: model.max_output_tokens,
        freeze_output_tokens: Some(model.freeze_output_tokens),
        hidden_reasoning: model.hidden_reasoning,
        safety_factor: Some(model.safety_factor.clone()),
    }
}

type Targets = (Vec<store::targets::Target>, Vec<store::targets::Target>, Vec<TargetId>);

/// Targets to be made, changed and removed: each is named by its upstream and the model there.
fn of_targets(
    fields: &mut Fields,
    stored: &Stored,
    before: Option<&Entry>,
    model: &MatrixModel,
    id: ModelId,
) -> Targets {
    let (mut create, mut update) = (Vec::new(), Vec::new());
    let mut left: Vec<&store::targets::Target> = before.map(|entry| entry.targets.iter().collect()).unwrap_or_default();
    let mut seen = std::collections::HashSet::new();
    for (index, target) in model.targets.iter().enumerate() {
        let path = format!("targets[{index}]");
        let is_new = seen.insert(key(target));
        fields.check(is_new, &format!("{path}.upstream_model"), "already_exists", "this model has the target twice");
        let Some(upstream) = stored.upstreams.get(&target.upstream) else {
            fields.refuse(
                &format!("{path}.upstream"),
                "not_found",
                "there is no upstream of this name: create it first",
            );
            continue;
        };
        let body = create_target(target, upstream.id);
        let mut row = fields.within(&path, |fields| targets::create::row(fields, id, &body, &upstream.kind));
        let found =
            left.iter().position(|old| old.upstream_id == upstream.id && old.upstream_model == row.upstream_model);
        match found {
            None => create.push(row),
            Some(place) => {
                let old = left.swap_remove(place);
                (row.id, row.version, row.created_at) = (old.id, old.version, old.created_at);
                update.push(row);
            }
        }
    }
    (create, update, left.iter().map(|target| target.id).collect())
}

fn create_target(target: &MatrixTarget, upstream_id: domain::UpstreamId) -> CreateTarget {
    CreateTarget {
        upstream_id,
        upstream_model: target.upstream_model.clone(),
        dialects: Some(target.dialects.clone()),
        priority: target.priority,
        weight: target.weight,
        multiplier: Some(target.multiplier.clone()),
        enabled: target.enabled,
    }
}

/// Does it.
pub async fn apply(conn: &mut PgConnection, step: &Step<'_>) -> Result<()> {
    let work = match step {
        Step::Keep => return Ok(()),
        Step::Remove(entry) => return Ok(store::models::delete(conn, entry.row.id).await?),
        Step::Add(work) | Step::Change(work, _) => work,
    };
    if work.is_new {
        store::models::create(conn, &work.model).await?;
    } else {
        store::models::update(conn, &work.model).await?;
    }
    if let Some(price) = &work.price {
        store::prices::create(conn, price).await?;
    }
    for id in &work.delete {
        store::targets::delete(conn, *id).await?;
    }
    for target in &work.update {
        store::targets::update(conn, target).await?;
    }
    for target in &work.create {
        store::targets::create(conn, target).await?;
    }
    Ok(())
}
