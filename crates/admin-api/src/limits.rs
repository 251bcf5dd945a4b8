//! Limits beside the quota: as asked for, as stored and as shown.

use api_types::limits::{LimitWindow, Limits as View};
use api_types::{Decimal, Timestamp};
use domain::{Amount, LimitName, LimitUse, Limits, Unit};
use serde_json::Value;
use time::OffsetDateTime;

use crate::error::{Error, Result};
use crate::validate::Fields;

/// The limits asked for, laid over those that are stored; what is wrong is refused by field. Null lifts every one.
pub fn apply(fields: &mut Fields, before: &Limits, change: Option<&Value>, unit: Unit) -> Limits {
    match before.patched("limits", change.unwrap_or(&Value::Null), unit) {
        Ok(limits) => limits,
        Err(errors) => {
            errors.into_iter().for_each(|error| fields.refuse(&error.field, error.code, error.message));
            before.clone()
        }
    }
}

/// As the API shows them.
///
/// # Errors
/// 500 for a stored amount that is none.
pub fn view(limits: &Limits, unit: Unit) -> Result<View> {
    let max_per_request = limits.max_per_request(unit).map_err(Error::internal)?;
    Ok(View {
        rpm: limits.rpm,
        rpd: limits.rpd,
        tpm: limits.tpm,
        tpd: limits.tpd,
        in_flight: limits.in_flight,
        max_per_request: max_per_request.map(|amount| Decimal::of(amount, unit)),
    })
}

/// How far a limit is used up, as the API shows it.
#[must_use]
pub fn window(limit: &LimitUse, unit: Unit) -> LimitWindow {
    let unit = if limit.name == LimitName::MaxPerRequest { unit } else { Unit::Token };
    let number = |number: i64| Decimal::of(Amount::new(number).unwrap_or(Amount::MAX), unit);
    let resets_in = limit.resets_in_ms.filter(|ms| *ms > 0).map(time::Duration::milliseconds);
    LimitWindow {
        name: limit.name,
        limit: number(limit.most),
        used: number(limit.used),
        remaining: number(limit.remaining()),
        resets_at: resets_in
            .and_then(|resets_in| OffsetDateTime::now_utc().checked_add(resets_in))
            .map(Timestamp::from),
    }
}
