//! `PATCH /keys/{k}`.

use api_types::key::{ChangeKey, Key};
use domain::{KeyId, Unit};

use crate::auth::policy::WriteKeys;
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::Result;
use crate::keys::{fields, status, view};
use crate::numbers::unit;
use crate::path::Id;
use crate::precondition::IfMatch;
use crate::reply::Reply;
use crate::validate::Fields;
use crate::{force, limits, numbers, scopes};

/// Changes a key. Its limits are in force on every gateway at return, everything else within a second.
#[utoipa::path(patch, path = "/keys/{k}", operation_id = "change_key", tag = "keys", request_body = ChangeKey,
    params(("k" = KeyId, Path, description = "The key."), ("If-Match" = String, Header, description = "The ETag that was read.")),
    responses((status = 200, description = "The key.", body = Key, headers(("ETag" = String)))))]
pub async fn handler(
    mut call: Call<WriteKeys>,
    Id(id): Id<KeyId>,
    if_match: IfMatch,
    Json { value: body, .. }: Json<ChangeKey>,
) -> Result<Reply<Key>> {
    let (before, tenant) = status::find(&mut call, id).await?;
    if_match.check(before.version)?;
    let unit = unit(&tenant)?;
    let changed = apply(&mut call, &before, body, unit).await?;
    let key = store::keys::update(&mut call.tx, &changed).await?;
    let present = scopes::key(&tenant, &key)?;
    let changed = store::accounts::set_limits(&mut call.tx, tenant.id, &present.scope, &present.limits).await?;
    let quota = numbers::one(&call.app, &mut call.tx, &tenant, present).await?;
    let version = key.version;
    let audit = Audit::new("key.change", id).of(tenant.id).before(&view(before, unit, quota.clone())?);
    let mut view = view(key, unit, quota)?;
    let app = call.commit(audit.after(&view)).await?;
    view.in_force = Some(force::push(&app, tenant.id, &changed).await);
    Ok(Reply::ok(view).version(version))
}

async fn apply(
    call: &mut Call<WriteKeys>,
    before: &store::keys::Key,
    body: ChangeKey,
    unit: Unit,
) -> Result<store::keys::Key> {
    let (mut read, mut key) = (Fields::new(), before.clone());
    if let Some(name) = &body.name {
        key.name = read.text("name", name, 200);
    }
    if let Some(models) = body.models {
        if let Some(models) = &models {
            fields::models(call, &mut read, models).await?;
        }
        key.models = models;
    }
    if let Some(ranges) = &body.ip_ranges {
        key.ip_ranges = ranges.as_ref().map(|ranges| fields::ip_ranges(&mut read, ranges));
    }
    if let Some(at) = body.expires_at {
        fields::expires_at(&mut read, at);
        key.expires_at = at.map(Into::into);
    }
    if let Some(factor) = &body.safety_factor {
        key.safety_factor = factor.as_ref().map(|factor| fields::safety_factor(&mut read, factor));
    }
    if let Some(change) = &body.limits {
        key.limits = limits::apply(&mut read, &before.limits, change.as_ref(), unit);
    }
    read.done()?;
    Ok(key)
}
