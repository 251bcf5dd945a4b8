//! An amount as it stands in settings: decimal text whose unit only the tenant knows.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::amount::{Amount, AmountError, Unit};

/// A decimal text that is an amount of at least one unit. JSON writes a string; it reads strings and whole numbers, never
/// a number with a point.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AmountText(String);

impl AmountText {
    /// Takes the text of an amount.
    ///
    /// # Errors
    /// [`AmountError`] if it is an amount of no unit.
    pub fn new(text: &str) -> Result<Self, AmountError> {
        Amount::parse(text, Unit::Token).or_else(|_| Amount::parse(text, Unit::Credit))?;
        Ok(Self(text.to_owned()))
    }

    /// Writes an amount of `unit`.
    #[must_use]
    pub fn of(amount: Amount, unit: Unit) -> Self {
        Self(amount.format(unit))
    }

    /// Reads it in the tenant's unit.
    ///
    /// # Errors
    /// [`AmountError`], such as `TooPrecise` for credits in the settings of a tenant metered in tokens.
    pub fn amount(&self, unit: Unit) -> Result<Amount, AmountError> {
        Amount::parse(&self.0, unit)
    }
}

impl fmt::Display for AmountText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for AmountText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for AmountText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl de::Visitor<'_> for Reader {
    type Value = AmountText;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an amount as a decimal string, such as \"12.50\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<AmountText, E> {
        AmountText::new(text).map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<AmountText, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<AmountText, E> {
        self.visit_str(&number.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_str, to_string};

    #[test]
    fn json_is_a_string_and_never_a_float() {
        let half: AmountText = from_str("\"0.50\"").unwrap();
        assert_eq!(half.amount(Unit::Credit).unwrap().units(), 50_000_000);
        assert_eq!(half.amount(Unit::Token), Err(AmountError::TooPrecise));
        assert_eq!(to_string(&half).unwrap(), "\"0.50\"");
        assert_eq!(from_str::<AmountText>("-3").unwrap().amount(Unit::Token).unwrap().units(), -3);
        // Too many for credits, but as tokens it is an amount.
        assert!(from_str::<AmountText>("9007199254740991").unwrap().amount(Unit::Token).is_ok());
        for bad in ["0.5", "1e309", "\"NaN\"", "9007199254740992", "\"\"", "null", "true"] {
            assert!(from_str::<AmountText>(bad).is_err(), "{bad}");
        }
    }
}
