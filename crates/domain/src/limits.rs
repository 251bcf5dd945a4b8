//! Limits of a tenant, project or key beside its quota. Each is none where it is null.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::amount::{Amount, AmountError, MAX_UNITS, Unit};
use crate::amount_text::AmountText;
use crate::field::{FieldError, Reader};
use crate::scope::Level;

/// The name of one limit, in the order in which limits are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitName {
    /// Requests per minute.
    Rpm,
    /// Requests per day.
    Rpd,
    /// Tokens per minute.
    Tpm,
    /// Tokens per day.
    Tpd,
    /// Requests running at once.
    InFlight,
    /// The most that one request may set aside.
    MaxPerRequest,
}

impl LimitName {
    /// Every name, in order.
    pub const ALL: [Self; 6] = [Self::Rpm, Self::Rpd, Self::Tpm, Self::Tpd, Self::InFlight, Self::MaxPerRequest];

    /// The word used in JSON and Redis.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rpm => "rpm",
            Self::Rpd => "rpd",
            Self::Tpm => "tpm",
            Self::Tpd => "tpd",
            Self::InFlight => "in_flight",
            Self::MaxPerRequest => "max_per_request",
        }
    }

    /// Reads the word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|name| name.as_str() == text)
    }
}

/// The limits of one account as its snapshot carries them: whole numbers, `max_per_request` in units of the account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LimitSet([Option<i64>; 6]);

/// A text that is no packed set of limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not six numbers such as 60,,1000,,10, (rpm, rpd, tpm, tpd, in_flight, max_per_request)")]
pub struct LimitSetError;

impl LimitSet {
    /// One of them; none where it is not limited.
    #[must_use]
    pub fn get(&self, name: LimitName) -> Option<i64> {
        LimitName::ALL.iter().position(|known| *known == name).and_then(|index| self.0[index])
    }

    /// The packed form in Redis and Postgres: six numbers joined by `,`, empty ones where there is no limit; empty where
    /// there is none at all.
    #[must_use]
    pub fn packed(&self) -> String {
        if self.0 == [None; 6] {
            return String::new();
        }
        let texts: Vec<String> =
            self.0.iter().map(|limit| limit.map_or_else(String::new, |limit| limit.to_string())).collect();
        texts.join(",")
    }

    /// Reads the packed form.
    ///
    /// # Errors
    /// [`LimitSetError`]; never take that for "no limit".
    pub fn parse(text: &str) -> Result<Self, LimitSetError> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        let parts: Vec<&str> = text.split(',').collect();
        let parts: [&str; 6] = parts.try_into().map_err(|_| LimitSetError)?;
        let mut set = Self::default();
        for (limit, part) in set.0.iter_mut().zip(parts).filter(|(_, part)| !part.is_empty()) {
            let number: i64 = part.parse().map_err(|_| LimitSetError)?;
            if !(1..=MAX_UNITS).contains(&number) {
                return Err(LimitSetError);
            }
            *limit = Some(number);
        }
        Ok(set)
    }
}

/// How far a limit of one scope is used up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitUse {
    /// Whose limit.
    pub level: Level,
    /// Which.
    pub name: LimitName,
    /// The limit itself.
    pub most: i64,
    /// What counts against it: in the window of a rate, running for `in_flight`, set aside for `max_per_request`. May pass
    /// the limit where the true number of tokens turned out larger than the reserved one.
    pub used: i64,
    /// When nothing counts against a rate any more, if nothing is added: ms from now. None for the others.
    pub resets_in_ms: Option<i64>,
}

impl LimitUse {
    /// What is left, never below zero.
    #[must_use]
    pub fn remaining(&self) -> i64 {
        self.most.saturating_sub(self.used).max(0)
    }
}

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
        if reader.raw("max_per_request").is_some_and(Value::is_number) {
            let message = "must be a decimal in a string, such as \"0.50\": a JSON number may lose digits";
            reader.refuse("max_per_request", "not_a_string", message);
        }
        reader.finish(limits)
    }

    /// These limits with a patch laid over them: what is absent stays, null lifts a limit, null for all lifts every one.
    ///
    /// # Errors
    /// Everything that is wrong with the outcome, each with its field below `path`.
    pub fn patched(&self, path: &str, patch: &Value, unit: Unit) -> Result<Self, Vec<FieldError>> {
        let Some(patch) = patch.as_object() else { return Self::read(path, patch, unit) };
        let mut whole = serde_json::to_value(self).unwrap_or_default();
        for (name, value) in patch {
            whole[name.as_str()] = value.clone();
        }
        Self::read(path, &whole, unit)
    }

    /// The same as whole numbers, for the account.
    ///
    /// # Errors
    /// [`AmountError`] if what is stored is no amount of this unit, or a count beyond the bounds of one.
    pub fn in_units(&self, unit: Unit) -> Result<LimitSet, AmountError> {
        let count = |count: Option<u64>| {
            count.map(|count| i64::try_from(count).map_err(|_| AmountError::OutOfRange)).transpose()
        };
        let max_per_request = self.max_per_request(unit)?.map(Amount::units);
        let set = [count(self.rpm)?, count(self.rpd)?, count(self.tpm)?, count(self.tpd)?, count(self.in_flight)?];
        let [rpm, rpd, tpm, tpd, in_flight] = set;
        Ok(LimitSet([rpm, rpd, tpm, tpd, in_flight, max_per_request]))
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
    fn the_packed_form_is_read_back_and_nothing_else_is() {
        let limits = Limits::read("", &json!({"rpm": 60, "in_flight": 10, "max_per_request": "0.5"}), Unit::Credit);
        let set = limits.unwrap().in_units(Unit::Credit).unwrap();
        assert_eq!(set.packed(), "60,,,,10,50000000");
        assert_eq!((set.get(LimitName::Rpm), set.get(LimitName::Tpd)), (Some(60), None));
        assert_eq!(LimitSet::parse(&set.packed()), Ok(set));
        assert_eq!((LimitSet::default().packed().as_str(), LimitSet::parse("")), ("", Ok(LimitSet::default())));
        for bad in ["60", "60,,,,10", "60,,,,10,1,", "0,,,,,", "-1,,,,,", "x,,,,,", "9007199254740992,,,,,"] {
            assert_eq!(LimitSet::parse(bad), Err(LimitSetError), "{bad}");
        }
        for name in LimitName::ALL {
            assert_eq!(
                (LimitName::parse(name.as_str()), serde_json::to_value(name).unwrap()),
                (Some(name), json!(name.as_str()))
            );
        }
    }

    #[test]
    fn a_patch_changes_what_it_names() {
        let limits = Limits { rpm: Some(5), tpm: Some(7), ..Limits::default() };
        let patched = limits.patched("limits", &json!({"rpm": null, "rpd": 9}), Unit::Token).unwrap();
        assert_eq!(patched, Limits { rpd: Some(9), tpm: Some(7), ..Limits::default() });
        assert_eq!(limits.patched("limits", &json!(null), Unit::Token), Ok(Limits::default()));
        assert_eq!(limits.patched("limits", &json!({"rps": 1}), Unit::Token).unwrap_err()[0].field, "limits.rps");
        assert_eq!(limits.patched("limits", &json!(7), Unit::Token).unwrap_err()[0].field, "limits");
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
