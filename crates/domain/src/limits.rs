//! Limits of a tenant, project or key beside its quota. Each is none where it is null.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::amount::{Amount, AmountError, MAX_UNITS, Unit};
use crate::amount_text::AmountText;
use crate::field::{FieldError, Reader};

/// The limits of one level. Counts are at least 1.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Requests per minute.
    pub rpm: Option<u64>,
    /// Requests per day.
    pub rpd: Option<u64>,
    /// Tokens per minute.
    pub tpm: Option<u64>,
    /// Tokens per day.
    pub tpd: Option<u64>,
    /// Requests running at once.
    pub in_flight: Option<u64>,
    /// The most that one request may set aside, in the tenant's unit.
    pub max_per_request: Option<AmountText>,
}

impl Limits {
    /// The names, in order.
    pub const NAMES: [&str; 6] = ["rpm", "rpd", "tpm", "tpd", "in_flight", "max_per_request"];

    /// Reads limits that a person or program sent; `path` names the object, such as `settings.limits`.
    ///
    /// # Errors
    /// Everything that is wrong, each with its field.
    pub fn read(path: &str, value: &Value, unit: Unit) -> Result<Self, Vec<FieldError>> {
        let mut reader = Reader::new(path, value, &Self::NAMES);
        let limits = Self {
            rpm: count(&mut reader, "rpm"),
            rpd: count(&mut reader, "rpd"),
            tpm: count(&mut reader, "tpm"),
            tpd: count(&mut reader, "tpd"),
            in_flight: count(&mut reader, "in_flight"),
            max_per_request: amount(&mut reader, "max_per_request", unit, true),
        };
        reader.finish(limits)
    }

    /// The most that one request may set aside.
    ///
    /// # Errors
    /// [`AmountError`] if what is stored is no amount of this unit; never take that for "no limit".
    pub fn max_per_request(&self, unit: Unit) -> Result<Option<Amount>, AmountError> {
        self.max_per_request.as_ref().map(|text| text.amount(unit)).transpose()
    }
}

fn count(reader: &mut Reader<'_>, name: &str) -> Option<u64> {
    let count: u64 = reader.read(name)?;
    if count == 0 || count > MAX_UNITS.unsigned_abs() {
        reader.refuse(name, "out_of_range", "must be from 1 to 9007199254740991; null for no limit");
        return None;
    }
    Some(count)
}

/// Reads an amount of the tenant's unit, written with all of its decimals.
pub(crate) fn amount(reader: &mut Reader<'_>, name: &str, unit: Unit, positive: bool) -> Option<AmountText> {
    let text: AmountText = reader.read(name)?;
    match text.amount(unit) {
        Ok(amount) if amount.is_negative() || (positive && amount == Amount::ZERO) => {
            let least = if positive { "must be above 0; null for no limit" } else { "must not be negative" };
            reader.refuse(name, "out_of_range", least);
            None
        }
        Ok(amount) => Some(AmountText::of(amount, unit)),
        Err(error) => {
            reader.refuse(name, "invalid", error.to_string());
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn limits_are_read_and_survive_storage() {
        let value = json!({"rpm": 60, "in_flight": 10, "tpd": null, "max_per_request": "0.5"});
        let limits = Limits::read("limits", &value, Unit::Credit).unwrap();
        assert_eq!((limits.rpm, limits.tpd, limits.in_flight), (Some(60), None, Some(10)));
        assert_eq!(limits.max_per_request(Unit::Credit).unwrap(), Some(Amount::new(50_000_000).unwrap()));
        let stored = serde_json::to_value(&limits).unwrap();
        assert_eq!(stored["max_per_request"], "0.50000000");
        assert_eq!(serde_json::from_value::<Limits>(stored).unwrap(), limits);
        assert_eq!(Limits::read("limits", &json!(null), Unit::Credit), Ok(Limits::default()));
    }

    #[test]
    fn every_mistake_is_named() {
        let value = json!({
            "rpm": 0, "rpd": -1, "tpm": 1.5, "tpd": "many", "in_flight": 9_007_199_254_740_992_u64, "max_per_request": "0.5",
            "rps": 1,
        });
        let errors = Limits::read("limits", &value, Unit::Token).unwrap_err();
        let mut found: Vec<(&str, &str)> = errors.iter().map(|error| (error.field.as_str(), error.code)).collect();
        found.sort_unstable();
        let expected = [
            ("limits.in_flight", "out_of_range"),
            ("limits.max_per_request", "invalid"),
            ("limits.rpd", "invalid"),
            ("limits.rpm", "out_of_range"),
            ("limits.rps", "unknown"),
            ("limits.tpd", "invalid"),
            ("limits.tpm", "invalid"),
        ];
        assert_eq!(found, expected);
        for bad in [json!("0"), json!("-1"), json!(0.5), json!("1e309"), json!("NaN")] {
            let errors = Limits::read("", &json!({ "max_per_request": bad }), Unit::Credit).unwrap_err();
            assert_eq!(errors[0].field, "max_per_request", "{bad}");
        }
        assert_eq!(Limits::read("limits", &json!([]), Unit::Credit).unwrap_err()[0].field, "limits");
    }
}
