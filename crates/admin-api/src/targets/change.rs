//! `PATCH /targets/{id}`.

use api_types::target::{ChangeTarget, Target};
use domain::TargetId;

use crate::auth::policy::WriteModels;
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::Result;
use crate::path::Id;
use crate::precondition::IfMatch;
use crate::reply::Reply;
use crate::targets::{MAX_MULTIPLIER, dialects, view};
use crate::upstreams::health::Ill;
use crate::validate::Fields;

/// Changes a target; in force on every gateway within a second.
#[utoipa::path(patch, path = "/targets/{id}", operation_id = "change_target", tag = "models", request_body = ChangeTarget,
    params(("id" = TargetId, Path, description = "The target."), ("If-Match" = String, Header, description = "The ETag that was read.")),
    responses((status = 200, description = "The target.", body = Target, headers(("ETag" = String)))))]
pub async fn handler(
    mut call: Call<WriteModels>,
    Id(id): Id<TargetId>,
    if_match: IfMatch,
    Json { value: body, .. }: Json<ChangeTarget>,
) -> Result<Reply<Target>> {
    let before = store::targets::get(&mut call.tx, id).await?;
    if_match.check(before.version)?;
    store::targets::update(&mut call.tx, &apply(&before, &body)?).await?;
    let ill = Ill::read(&mut call.tx).await?;
    let after = view(store::targets::get(&mut call.tx, id).await?, &ill)?;
    call.commit(Audit::new("target.change", id).before(&view(before, &ill)?).after(&after)).await?;
    let version = after.version;
    Ok(Reply::ok(after).version(version))
}

fn apply(before: &store::targets::Target, body: &ChangeTarget) -> Result<store::targets::Target> {
    let (mut fields, mut row) = (Fields::new(), before.clone());
    if let Some(name) = &body.upstream_model {
        row.upstream_model = fields.text("upstream_model", name, 200);
    }
    if let Some(given) = &body.dialects {
        row.dialects = dialects(&mut fields, given);
    }
    if let Some(priority) = body.priority {
        row.priority = fields.range("priority", priority, -1_000_000, 1_000_000);
    }
    if let Some(weight) = body.weight {
        row.weight = fields.range("weight", weight, 1, 1000);
    }
    if let Some(factor) = &body.multiplier {
        row.multiplier = fields.factor("multiplier", factor, 0, MAX_MULTIPLIER);
    }
    row.enabled = body.enabled.unwrap_or(row.enabled);
    fields.done()?;
    Ok(row)
}
