//! What callers read of an event: ids, the four numbers as decimals, the account's version.

use api_types::{Decimal, Numbers, Overdraft, Timestamp};
use domain::{Amount, Snapshot, Unit};
use serde_json::{Map, Value, json};
use store::hours::Hour;
use store::outbox::Waiting;

/// What is known of the account beside the event.
#[derive(Debug, Clone)]
pub struct Facts {
    /// As Postgres has it now.
    pub snapshot: Snapshot,
    /// Given back so far.
    pub refunded: Amount,
    /// In flight now.
    pub frozen: Amount,
}

/// The event's `data` for callers. `total`, `used` and `version` are those of the event's instant; credit line, overdraft
/// and what is in flight are those of now. An event without amounts stays as it was written.
#[must_use]
pub fn render(event: &Waiting, facts: Option<&Facts>) -> Value {
    let Value::Object(mut data) = event.data.clone() else { return event.data.clone() };
    let unit = unit(event);
    let amounts: &[&str] = match event.kind.as_str() {
        "grant.expiring" => &["amount", "remaining"],
        "usage.anomaly" => &["last_hour", "day_before", "same_hour_before"],
        _ => &[],
    };
    for name in amounts {
        if let (Some(sum), Some(unit)) = (data.get(*name).and_then(sum_of_units), unit) {
            data.insert((*name).to_owned(), json!(Decimal::of_sum(sum, unit)));
        }
    }
    if let (Some(unit), Some(facts)) = (unit, facts)
        && let Some(quota) = quota(&data, unit, event, facts)
    {
        for name in ["total", "used", "frozen"] {
            data.remove(name);
        }
        data.insert("quota".to_owned(), quota);
    }
    Value::Object(data)
}

/// The hours of a tenant's last day, with what was charged as a decimal.
#[must_use]
pub fn hours(event: &Waiting, hours: &[Hour]) -> Value {
    let unit = unit(event).unwrap_or(Unit::Credit);
    let hour = |hour: &Hour| {
        let charge = Decimal::of(Amount::new(hour.charge).unwrap_or(Amount::MAX), unit);
        json!({ "from": Timestamp::from(hour.from), "calls": hour.calls, "charge": charge })
    };
    hours.iter().map(hour).collect()
}

fn unit(event: &Waiting) -> Option<Unit> {
    [Unit::Credit, Unit::Token].into_iter().find(|unit| Some(unit.as_str()) == event.unit.as_deref())
}

fn quota(data: &Map<String, Value>, unit: Unit, event: &Waiting, facts: &Facts) -> Option<Value> {
    let (total, used) = (units(data.get("total")?)?, units(data.get("used")?)?);
    let snapshot = &facts.snapshot;
    let version = data.get("version").and_then(Value::as_i64).unwrap_or(snapshot.version);
    // The limit moves with the total.
    let beyond = match (snapshot.limit, snapshot.total) {
        (Some(limit), Some(now)) => limit.checked_sub(now).ok()?,
        _ => Amount::ZERO,
    };
    let numbers = domain::Numbers {
        scope: snapshot.scope.clone(),
        total: Some(total),
        used,
        frozen: data.get("frozen").and_then(units).unwrap_or(facts.frozen),
        credit_limit: snapshot.credit_limit,
        limit: Some(total.saturating_add(beyond)),
        version,
        status: snapshot.status,
        valid_until_ms: snapshot.valid_until_ms,
    };
    let decimal = |amount: Amount| Decimal::of(amount, unit);
    let (limit, over) = (numbers.overdraft_limit(), numbers.overdraft_used());
    let resets_at = numbers
        .valid_until_ms
        .and_then(|ms| time::OffsetDateTime::from_unix_timestamp_nanos(i128::from(ms) * 1_000_000).ok());
    let quota = Numbers {
        unit,
        total: Some(decimal(total)),
        used: decimal(used),
        frozen: decimal(numbers.frozen),
        remaining: numbers.remaining().map(decimal),
        refunded: decimal(facts.refunded),
        debt: decimal(numbers.debt()),
        overdraft: Overdraft {
            enabled: limit.is_positive(),
            limit: decimal(limit),
            used: decimal(over),
            remaining: decimal(limit.checked_sub(over).unwrap_or_default()),
        },
        period: snapshot.scope.period().map(|label| label.as_str().to_owned()).filter(|label| label != "-"),
        resets_at: resets_at.map(Into::into),
        version,
        as_of: event.at.into(),
    };
    serde_json::to_value(quota).ok()
}

/// A sum written as a string of units.
fn sum_of_units(value: &Value) -> Option<i128> {
    value.as_str()?.parse().ok()
}

/// An amount written as a string of units.
fn units(value: &Value) -> Option<Amount> {
    Amount::new(value.as_str()?.parse().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{Scope, Status, TenantId};

    #[test]
    fn units_become_decimals_and_the_numbers_add_up() {
        let amount = |units| Amount::new(units).unwrap();
        let tenant = TenantId::from_uuid(uuid::Uuid::from_u128(7));
        let mut event = Waiting {
            id: 1,
            kind: "quota.low".to_owned(),
            tenant_id: Some(tenant),
            unit: Some("credit".to_owned()),
            scope: Some(tenant.to_string()),
            data: json!({"tenant_id": tenant, "threshold_percent": 90, "total": "100000000", "used": "95000000", "version": 4}),
            at: time::OffsetDateTime::UNIX_EPOCH,
        };
        let snapshot = Snapshot {
            scope: Scope::Tenant(tenant),
            incarnation: 1,
            version: 9,
            total: Some(amount(300_000_000)),
            credit_limit: Amount::ZERO,
            limit: Some(amount(350_000_000)),
            used: amount(96_000_000),
            status: Status::Active,
            valid_until_ms: Some(0),
            lapse_version: 0,
            lapsed: Amount::ZERO,
            limits: domain::LimitSet::default(),
            share: None,
        };
        let facts = Facts { snapshot, refunded: amount(5), frozen: amount(1_000_000) };
        let data = render(&event, Some(&facts));
        assert_eq!(data["threshold_percent"], 90);
        assert!(data.get("used").is_none() && data.get("total").is_none());
        let quota = &data["quota"];
        assert_eq!(
            [&quota["total"], &quota["used"], &quota["frozen"], &quota["remaining"], &quota["overdraft"]["limit"]],
            ["1.00000000", "0.95000000", "0.01000000", "0.04000000", "0.50000000"]
        );
        assert_eq!((quota["version"].as_i64(), quota["resets_at"].as_str()), (Some(4), Some("1970-01-01T00:00:00Z")));
        assert_eq!(render(&event, None), event.data, "nothing is made up");
        event.data = json!({"webhook_id": "wh_1"});
        assert_eq!(render(&event, Some(&facts)), event.data);
    }
}
