//! `POST /models/{m}/targets`.

use api_types::target::{CreateTarget, Target};
use domain::{ModelId, TargetId};
use time::OffsetDateTime;

use crate::auth::policy::WriteModels;
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::{Error, Result};
use crate::path::Id;
use crate::reply::Reply;
use crate::targets::{MAX_MULTIPLIER, dialects, view};
use crate::upstreams::health::Ill;
use crate::validate::Fields;

/// Adds a target to a model; in force on every gateway within a second.
#[utoipa::path(post, path = "/models/{m}/targets", operation_id = "create_target", tag = "models", request_body = CreateTarget,
    params(("m" = ModelId, Path, description = "The model.")),
    responses((status = 201, description = "The target.", body = Target, headers(("ETag" = String)))))]
pub async fn handler(
    mut call: Call<WriteModels>,
    Id(id): Id<ModelId>,
    Json { value: body, .. }: Json<CreateTarget>,
) -> Result<Reply<Target>> {
    store::models::get(&mut call.tx, id).await?;
    let upstream = match store::upstreams::get(&mut call.tx, body.upstream_id).await {
        Err(store::Error::NotFound) => {
            return Err(Error::field("upstream_id", "not_found", "there is no such upstream"));
        }
        other => other?,
    };
    let mut fields = Fields::new();
    let row = row(&mut fields, id, &body, &upstream.kind);
    fields.done()?;
    let view = view(store::targets::create(&mut call.tx, &row).await?, &Ill::default())?;
    call.commit(Audit::new("target.create", view.id).after(&view)).await?;
    Ok(Reply::created(&format!("/targets/{}", view.id), view.clone()).version(view.version))
}

/// The row that a body asks for; refuses what a target can't be. `kind` is the upstream's.
pub fn row(fields: &mut Fields, model_id: ModelId, body: &CreateTarget, kind: &str) -> store::targets::Target {
    let (given, factor) = (body.dialects.as_deref(), body.multiplier.as_ref());
    store::targets::Target {
        id: TargetId::generate(),
        model_id,
        upstream_id: body.upstream_id,
        upstream_model: fields.text("upstream_model", &body.upstream_model, 200),
        dialects: given.map_or_else(|| vec![kind.to_owned()], |given| dialects(fields, given)),
        priority: fields.range("priority", body.priority, -1_000_000, 1_000_000),
        weight: fields.range("weight", body.weight, 1, 1000),
        multiplier: factor
            .map_or_else(|| "1".to_owned(), |factor| fields.factor("multiplier", factor, 0, MAX_MULTIPLIER)),
        enabled: body.enabled,
        created_at: OffsetDateTime::UNIX_EPOCH,
        version: 1,
    }
}
