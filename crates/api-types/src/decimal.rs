//! Decimals as text. JSON numbers lose digits in most parsers, so money is never one.

use std::fmt;

use domain::{Amount, Unit};
use serde::{Deserialize, Deserializer, Serialize, de};

/// An amount or a price: a decimal string such as `"12.50"`. A JSON number is refused.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Decimal(String);

impl Decimal {
    /// The decimal string of an amount in its unit.
    #[must_use]
    pub fn of(amount: Amount, unit: Unit) -> Self {
        Self(amount.format(unit))
    }

    /// The decimal string of a sum of amounts, which may be beyond what one amount can be.
    #[must_use]
    pub fn of_sum(units: i128, unit: Unit) -> Self {
        if unit == Unit::Token {
            return Self(units.to_string());
        }
        let (sign, magnitude) = (if units < 0 { "-" } else { "" }, units.unsigned_abs());
        Self(format!("{sign}{}.{:08}", magnitude / 100_000_000, magnitude % 100_000_000))
    }

    /// Takes a text as it is, such as a `numeric` read from Postgres; whoever uses it as an amount parses it.
    #[must_use]
    pub fn from_text(text: String) -> Self {
        Self(text)
    }

    /// Reads it as an amount of `unit`.
    ///
    /// # Errors
    /// Says whether it is no decimal, too precise or too large.
    pub fn amount(&self, unit: Unit) -> Result<Amount, domain::amount::AmountError> {
        Amount::parse(&self.0, unit)
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What is said to a number where a decimal string belongs. The API turns it into the code `not_a_string`.
pub const NUMBER_REFUSED: &str = "amounts are decimal strings such as \"12.50\", not JSON numbers";

struct DecimalVisitor;

impl de::Visitor<'_> for DecimalVisitor {
    type Value = Decimal;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a decimal string such as \"12.50\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Decimal, E> {
        if is_decimal(text) {
            Ok(Decimal(text.to_owned()))
        } else {
            Err(E::custom("not a decimal string such as \"12.50\""))
        }
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Decimal, E> {
        Err(E::custom(NUMBER_REFUSED))
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<Decimal, E> {
        Err(E::custom(NUMBER_REFUSED))
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<Decimal, E> {
        Err(E::custom(NUMBER_REFUSED))
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DecimalVisitor)
    }
}

/// Optional minus, digits, optionally a point and more digits; at most 40 characters.
fn is_decimal(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    text.len() <= 40
        && [whole, fraction].iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A multiplier or a safety factor: not money, so a JSON number is taken too; always written as a decimal string.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Factor(String);

impl Factor {
    /// Takes a text read from Postgres.
    #[must_use]
    pub fn from_text(text: String) -> Self {
        Self(text)
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

struct FactorVisitor;

impl de::Visitor<'_> for FactorVisitor {
    type Value = Factor;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a decimal such as \"1.25\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Factor, E> {
        if is_decimal(text) { Ok(Factor(text.to_owned())) } else { Err(E::custom("not a decimal such as \"1.25\"")) }
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Factor, E> {
        // The shortest text that reads back as this number: what the caller wrote, for the few digits of a factor.
        self.visit_str(&number.to_string())
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Factor, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Factor, E> {
        self.visit_str(&number.to_string())
    }
}

impl<'de> Deserialize<'de> for Factor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FactorVisitor)
    }
}

#[cfg(feature = "openapi")]
mod schema {
    use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
    use utoipa::openapi::{OneOfBuilder, RefOr};

    const PATTERN: &str = r"^-?[0-9]+(\.[0-9]+)?$";

    fn text() -> ObjectBuilder {
        ObjectBuilder::new().schema_type(Type::String).pattern(Some(PATTERN)).max_length(Some(40))
    }

    impl utoipa::PartialSchema for super::Decimal {
        fn schema() -> RefOr<Schema> {
            text()
                .description(Some("A decimal string; never a JSON number. 8 decimals for credits, none for tokens."))
                .into()
        }
    }
    impl utoipa::ToSchema for super::Decimal {}

    impl utoipa::PartialSchema for super::Factor {
        fn schema() -> RefOr<Schema> {
            let number = ObjectBuilder::new().schema_type(Type::Number);
            OneOfBuilder::new().item(text()).item(number).description(Some("A decimal with at most 4 places.")).into()
        }
    }
    impl utoipa::ToSchema for super::Factor {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_no_amounts() {
        assert_eq!(serde_json::from_str::<Decimal>(r#""-12.50""#).unwrap().as_str(), "-12.50");
        for text in ["12.5", "12", "-3", "1e3"] {
            let error = serde_json::from_str::<Decimal>(text).unwrap_err().to_string();
            assert!(error.contains("not JSON numbers"), "{text}: {error}");
        }
        for text in [r#""""#, r#""1e3""#, r#""1.""#, r#""+1""#, r#"".5""#, "null", "true", "{}"] {
            assert!(serde_json::from_str::<Decimal>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sums_are_written_as_amounts_are() {
        for units in [0, 1, -1, 7_000_000, -100_000_001, domain::amount::MAX_UNITS] {
            for unit in [Unit::Credit, Unit::Token] {
                let amount = Decimal::of(Amount::new(units).unwrap(), unit);
                assert_eq!(Decimal::of_sum(i128::from(units), unit), amount);
            }
        }
        let beyond = Decimal::of_sum(i128::from(i64::MAX) * 10, Unit::Credit);
        assert_eq!(beyond.as_str(), "922337203685.47758070");
    }

    #[test]
    fn factors_are_texts_or_numbers() {
        for text in [r#""1.25""#, "1.25"] {
            assert_eq!(serde_json::from_str::<Factor>(text).unwrap().as_str(), "1.25");
        }
        assert_eq!(serde_json::from_str::<Factor>("2").unwrap().as_str(), "2");
        assert!(serde_json::from_str::<Factor>("1e300").is_err());
    }
}
