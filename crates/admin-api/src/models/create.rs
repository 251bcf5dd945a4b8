//! `POST /models`.

use api_types::model::{CreateModel, Model};
use domain::ModelId;
use time::OffsetDateTime;

use crate::auth::policy::WriteModels;
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::Result;
use crate::models::{check, view};
use crate::reply::Reply;
use crate::validate::Fields;

/// What is set aside for an answer whose caller gives no maximum, unless said otherwise.
const FREEZE_OUTPUT_TOKENS: i64 = 1000;

/// Offers a model. It is called once it has a price and a target.
#[utoipa::path(post, path = "/models", operation_id = "create_model", tag = "models", request_body = CreateModel,
    responses((status = 201, description = "The model.", body = Model, headers(("ETag" = String)))))]
pub async fn handler(mut call: Call<WriteModels>, Json { value: body, .. }: Json<CreateModel>) -> Result<Reply<Model>> {
    let mut fields = Fields::new();
    let row = row(&mut fields, &body);
    fields.done()?;
    let view = view(store::models::create(&mut call.tx, &row).await?, None)?;
    call.commit(Audit::new("model.create", view.id).after(&view)).await?;
    Ok(Reply::created(&format!("/models/{}", view.id), view.clone()).version(view.version))
}

/// The row that a body asks for; refuses what a model can't be.
pub fn row(fields: &mut Fields, body: &CreateModel) -> store::models::Model {
    let factor = body.safety_factor.as_ref();
    let row = store::models::Model {
        id: ModelId::generate(),
        name: fields.text("name", &body.name, 200),
        mode: body.mode.to_string(),
        tokenizer: body.tokenizer.clone(),
        context_window: body.context_window,
        max_output_tokens: body.max_output_tokens,
        freeze_output_tokens: body.freeze_output_tokens.unwrap_or(FREEZE_OUTPUT_TOKENS.min(body.max_output_tokens)),
        hidden_reasoning: body.hidden_reasoning,
        safety_factor: factor
            .map_or_else(|| "1.05".to_owned(), |factor| fields.factor("safety_factor", factor, 10_000, 100_000)),
        p90_output_tokens: None,
        created_at: OffsetDateTime::UNIX_EPOCH,
        version: 1,
    };
    check(fields, &row);
    row
}
