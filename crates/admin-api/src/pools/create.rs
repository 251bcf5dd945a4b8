//! `POST /pools`.

use api_types::pool::{CreatePool, Pool};
use domain::period::Zone;

use crate::auth::policy::ManagePools;
use crate::auth::{Audit, Call};
use crate::body::Json;
use crate::error::Result;
use crate::pools::view;
use crate::reply::Reply;
use crate::validate::Fields;

/// The part of the budget that is guaranteed unless the caller says otherwise.
const GUARANTEED: u32 = 50;

/// Creates a pool without members.
#[utoipa::path(post, path = "/pools", operation_id = "create_pool", tag = "pools", request_body = CreatePool,
    responses((status = 201, description = "The pool.", body = Pool, headers(("ETag" = String)))))]
pub async fn handler(mut call: Call<ManagePools>, Json { value: body, .. }: Json<CreatePool>) -> Result<Reply<Pool>> {
    let mut fields = Fields::new();
    let name = fields.text("name", &body.name, 200);
    let percent = fields.range("guaranteed_percent", body.guaranteed_percent.unwrap_or(GUARANTEED), 0, 100);
    let budget = fields.positive("budget.amount", &body.budget.amount, body.unit);
    let zone = Zone::parse(body.time_zone.as_deref().unwrap_or("UTC"));
    if let Err(why) = &zone {
        fields.refuse("time_zone", "invalid", why.to_string());
    }
    fields.done()?;
    let zone = zone.map(|zone| zone.name().to_owned()).unwrap_or_default();
    let period = body.budget.period.map(|period| period.as_str());
    let (unit, tx) = (body.unit.as_str(), &mut call.tx);
    let pool = store::pools::create(tx, &name, unit, percent, budget, period, &zone).await?;
    let app = call.app.clone();
    let view = view(&app, &mut call.tx, pool, Some(Vec::new())).await?;
    call.commit(Audit::new("pool.create", view.id).after(&view)).await?;
    Ok(Reply::created(&format!("/pools/{}", view.id), view.clone()).version(view.version))
}
