//! `GET /overview`.

use std::time::Duration;

use api_types::Decimal;
use api_types::platform::{Driest, Overview, Refusals};
use domain::Amount;
use time::OffsetDateTime;

use crate::auth::Call;
use crate::auth::policy::ReadPlatform;
use crate::error::{Error, Result};
use crate::numbers::unit_of;
use crate::reply::Reply;
use crate::usage;

/// Tenants shown that are near their end.
const DRIEST: i64 = 10;
/// How long Redis is waited for.
const WITHIN: Duration = Duration::from_millis(800);

/// What the console's first page shows: the last 24 hours, what runs, who runs dry.
#[utoipa::path(get, path = "/overview", operation_id = "read_overview", tag = "platform",
    responses((status = 200, description = "The figures.", body = Overview)))]
pub async fn handler(mut call: Call<ReadPlatform>) -> Result<Reply<Overview>> {
    let now = OffsetDateTime::now_utc();
    let bounds = last_hours(now, 24)?;
    let since = bounds.first().copied().unwrap_or(now);
    let ask = store::usage::Ask { bounds: bounds.clone(), limit: 100, ..store::usage::Ask::default() };
    let mut hours = Vec::new();
    for sum in store::usage::sums(&mut call.tx, &ask, &call.reach).await? {
        let index = usize::try_from(sum.bucket - 1).map_err(Error::internal)?;
        hours.push(usage::view(sum, bounds.get(index).copied().unwrap_or(now))?);
    }
    let refusals = store::usage::refusals(&mut call.tx, since).await?;
    let driest = store::platform::driest(&mut call.tx, DRIEST).await?;
    let (tenants, projects, keys) = store::platform::active(&mut call.tx).await?;
    let freezes = match tokio::time::timeout(WITHIN, call.app.quota().live_freezes()).await {
        Ok(Ok(freezes)) => Some(freezes),
        Ok(Err(_)) | Err(_) => None,
    };
    Ok(Reply::ok(Overview {
        as_of: now.into(),
        tenants,
        projects,
        keys,
        freezes,
        hours,
        refusals: refusals.into_iter().map(|(reason, requests)| Refusals { reason, requests }).collect(),
        driest: driest.iter().map(shown).collect::<Result<_>>()?,
    }))
}

/// The first instants of the present hour and those before it, and the end of the present one.
fn last_hours(now: OffsetDateTime, hours: i64) -> Result<Vec<OffsetDateTime>> {
    let second = now.unix_timestamp();
    let end = second - second.rem_euclid(3600) + 3600;
    let bounds = (0..=hours).rev().map(|ago| OffsetDateTime::from_unix_timestamp(end - ago * 3600));
    bounds.map(|at| at.map_err(Error::internal)).collect()
}

fn shown(tenant: &store::platform::Driest) -> Result<Driest> {
    let unit = unit_of(&tenant.unit)?;
    let decimal = |units: i64| Amount::new(units).map(|amount| Decimal::of(amount, unit)).map_err(Error::internal);
    let left = i128::from(tenant.total) - i128::from(tenant.used);
    let percent = (left * 100).div_euclid(i128::from(tenant.total.max(1)));
    Ok(Driest {
        tenant_id: tenant.tenant_id,
        name: tenant.name.clone(),
        unit,
        total: decimal(tenant.total)?,
        used: decimal(tenant.used)?,
        remaining: Decimal::of_sum(left, unit),
        remaining_percent: i64::try_from(percent).map_err(Error::internal)?,
    })
}
