//! `PATCH /pools/{id}`.

use api_types::pool::{ChangePool, Pool};
use domain::{Home, PoolId};

use crate::auth::policy::ManagePools;
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::{Error, Result};
use crate::force;
use crate::numbers::unit_of;
use crate::path::Id;
use crate::pools::{label, present, view};
use crate::precondition::IfMatch;
use crate::reply::Reply;
use crate::validate::Fields;

/// Changes a pool. A larger budget and other guarantees are in force on every gateway at return; a smaller budget is from the
/// next period on, so that what is used and in flight never lies above it.
#[utoipa::path(patch, path = "/pools/{id}", operation_id = "change_pool", tag = "pools", request_body = ChangePool,
    params(("id" = PoolId, Path, description = "The pool."), ("If-Match" = String, Header, description = "The ETag that was read.")),
    responses((status = 200, description = "The pool.", body = Pool, headers(("ETag" = String)))))]
pub async fn handler(
    mut call: Call<ManagePools>,
    Id(id): Id<PoolId>,
    if_match: IfMatch,
    Json { value: body, .. }: Json<ChangePool>,
) -> Result<Reply<Pool>> {
    store::pools::lock(&mut call.tx, id).await?;
    let before = store::pools::get(&mut call.tx, id).await?;
    if_match.check(before.version)?;
    let wanted = apply(&before, &body)?;
    let pool = store::pools::update(&mut call.tx, &wanted).await?;
    let label = label(&present(&pool)?);
    let changed = store::pools::share_out(&mut call.tx, id, &label).await?;
    let members = store::pools::members(&mut call.tx, id).await?;
    let app = call.app.clone();
    let before = view(&app, &mut call.tx, before, None).await?;
    let version = pool.version;
    let mut view = view(&app, &mut call.tx, pool, Some(members)).await?;
    let audit = Audit::new("pool.change", id).before(&before);
    let app = call.commit(audit.after(&api_types::pool::Pool { members: None, ..view.clone() })).await?;
    view.in_force = Some(force::push_at(&app, Home::Pool(id), &changed).await);
    Ok(Reply::ok(view).version(version))
}

fn apply(before: &store::pools::Pool, body: &ChangePool) -> Result<store::pools::Pool> {
    let (mut fields, mut pool) = (Fields::new(), before.clone());
    if let Some(name) = &body.name {
        pool.name = fields.text("name", name, 200);
    }
    if let Some(percent) = body.guaranteed_percent {
        pool.guaranteed_percent = fields.range("guaranteed_percent", percent, 0, 100);
    }
    if let Some(budget) = &body.budget {
        pool.budget = fields.positive("budget", budget, unit_of(&before.unit)?);
    }
    fields.done()?;
    if pool.budget < before.budget && before.period.is_none() {
        let detail = "a budget without periods can't be lowered: take members out, or have them use another pool";
        return Err(Error::conflict(detail));
    }
    Ok(pool)
}
