//! A tenant's plan: from which instant on it renews, by the tenant's own calendar.

use domain::Amount;
use domain::grant::Plan;
use domain::period::{Cycle, PeriodKind, Renewal, Zone};
use jiff::Timestamp;
use store::tenants::Tenant;

use crate::error::{Error, Result};

/// A plan of `amount` per period. Without `renews_at` it renews where the tenant's periods begin; with it, on that day and at
/// that time of day.
///
/// # Errors
/// 500 where the stored zone or period is not understood.
pub fn of(tenant: &Tenant, amount: Amount, priority: i32, renews_at: Option<api_types::Timestamp>) -> Result<Plan> {
    let zone = Zone::parse(&tenant.time_zone).map_err(Error::internal)?;
    let kind =
        PeriodKind::parse(&tenant.period_kind).ok_or_else(|| Error::internal("a tenant's period that is not known"))?;
    let cycle = Cycle::new(kind, tenant.period_anchor).map_err(Error::internal)?;
    let (renews_at, renewal) = match renews_at {
        None => {
            let end = cycle.current(&zone, Timestamp::now()).end;
            (end, Renewal::from_parts(kind, cycle.anchor(), 0).map_err(Error::internal)?)
        }
        Some(at) => {
            // Postgres keeps microseconds; what the plan sticks to must be what is stored.
            let micros = at.instant().unix_timestamp_nanos() / 1_000;
            let micros = i64::try_from(micros).map_err(Error::internal)?;
            let at = Timestamp::from_microsecond(micros).map_err(Error::internal)?;
            (at, Renewal::sticking_to(kind, &zone, at))
        }
    };
    Ok(Plan { amount, priority, renews_at, renewal, zone })
}
