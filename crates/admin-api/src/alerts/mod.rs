//! Alerts: what the comparisons of both copies found.

pub mod acknowledge;
pub mod list;

use api_types::alert::{Alert, Trend};
use api_types::{Decimal, Numbers};
use domain::{AlertId, Amount, Status, TenantId, Unit};
use serde_json::Value;
use time::OffsetDateTime;

use crate::error::{Error, Result};
use crate::numbers::{shown, unit_of};

/// An alert as the API shows it.
///
/// # Errors
/// 500 for a stored value that this version does not understand.
pub fn view(alert: store::alerts::Alert) -> Result<Alert> {
    let unit = unit_of(&alert.unit)?;
    Ok(Alert {
        id: AlertId::from_uuid(alert.id),
        grade: alert.grade.parse().map_err(|_| Error::internal("a grade that this version does not know"))?,
        kind: alert.kind,
        tenant_id: TenantId::from_uuid(alert.tenant_id),
        numbers: numbers(&alert.numbers, &alert.scope, unit, alert.seen_at)?,
        trend: alert.trend.map(|trend| self::trend(&trend, unit)).transpose()?,
        scope: alert.scope,
        remedy: alert.remedy,
        opened_at: alert.opened_at.into(),
        seen_at: alert.seen_at.into(),
        closed_at: alert.closed_at.map(Into::into),
        acknowledged_at: alert.acknowledged_at.map(Into::into),
        acknowledged_by: alert.acknowledged_by,
        note: alert.note,
    })
}

fn numbers(stored: &Value, scope: &str, unit: Unit, at: OffsetDateTime) -> Result<Numbers> {
    let amount = |field: &str| -> Result<Option<Amount>> {
        let units = units(stored, field)?.map(i64::try_from).transpose().map_err(Error::internal)?;
        units.map(Amount::new).transpose().map_err(Error::internal)
    };
    let needed = |field| Ok::<_, Error>(amount(field)?.unwrap_or_default());
    let numbers = domain::Numbers {
        scope: scope.parse().map_err(Error::internal)?,
        total: amount("total")?,
        used: needed("used")?,
        frozen: needed("frozen")?,
        credit_limit: needed("credit_limit")?,
        limit: amount("limit")?,
        version: stored.get("version").and_then(Value::as_i64).unwrap_or_default(),
        status: Status::Active,
        valid_until_ms: stored.get("valid_until_ms").and_then(Value::as_i64),
    };
    Ok(shown(unit, at, &numbers, needed("refunded")?))
}

fn trend(stored: &Value, unit: Unit) -> Result<Trend> {
    let decimal = |field| Ok::<_, Error>(Decimal::of_sum(units(stored, field)?.unwrap_or_default(), unit));
    Ok(Trend {
        last_hour: decimal("last_hour")?,
        day_before: decimal("day_before")?,
        same_hour_before: decimal("same_hour_before")?,
        week: units(stored, "week")?.map(|units| Decimal::of_sum(units, unit)),
    })
}

/// A sum stored as a string of units.
fn units(stored: &Value, field: &str) -> Result<Option<i128>> {
    stored.get(field).and_then(Value::as_str).map(|text| text.parse().map_err(Error::internal)).transpose()
}
