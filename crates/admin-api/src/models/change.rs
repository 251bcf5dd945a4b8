//! `PATCH /models/{m}`.

use api_types::model::{ChangeModel, Model};
use domain::ModelId;

use crate::auth::policy::WriteModels;
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::Result;
use crate::models::{check, view};
use crate::path::Id;
use crate::precondition::IfMatch;
use crate::reply::Reply;
use crate::validate::Fields;

/// Changes a model; in force on every gateway within a second.
#[utoipa::path(patch, path = "/models/{m}", operation_id = "change_model", tag = "models", request_body = ChangeModel,
    params(("m" = ModelId, Path, description = "The model."), ("If-Match" = String, Header, description = "The ETag that was read.")),
    responses((status = 200, description = "The model.", body = Model, headers(("ETag" = String)))))]
pub async fn handler(
    mut call: Call<WriteModels>,
    Id(id): Id<ModelId>,
    if_match: IfMatch,
    Json { value: body, .. }: Json<ChangeModel>,
) -> Result<Reply<Model>> {
    let before = store::models::get(&mut call.tx, id).await?;
    if_match.check(before.version)?;
    store::models::update(&mut call.tx, &apply(&before, body)?).await?;
    let price = store::prices::in_force(&mut call.tx, &[id]).await?.pop();
    let after = view(store::models::get(&mut call.tx, id).await?, price)?;
    call.commit(Audit::new("model.change", id).before(&view(before, None)?).after(&after)).await?;
    let version = after.version;
    Ok(Reply::ok(after).version(version))
}

fn apply(before: &store::models::Model, body: ChangeModel) -> Result<store::models::Model> {
    let (mut fields, mut row) = (Fields::new(), before.clone());
    row.tokenizer = body.tokenizer.unwrap_or(row.tokenizer);
    row.context_window = body.context_window.unwrap_or(row.context_window);
    row.max_output_tokens = body.max_output_tokens.unwrap_or(row.max_output_tokens);
    row.freeze_output_tokens = body.freeze_output_tokens.unwrap_or(row.freeze_output_tokens);
    row.hidden_reasoning = body.hidden_reasoning.unwrap_or(row.hidden_reasoning);
    if let Some(factor) = &body.safety_factor {
        row.safety_factor = fields.factor("safety_factor", factor, 10_000, 100_000);
    }
    check(&mut fields, &row);
    fields.done()?;
    Ok(row)
}
