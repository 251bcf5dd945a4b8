//! Exact non-negative decimals: an integer and a fixed number of places. JSON writes them as strings without needless
//! zeros. It reads strings and whole numbers; a number with a point would have been a float on its way, so money refuses
//! it, and only factors, which people write as 1.05, take it digit for digit.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Why a text is no price, multiplier or weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecimalError {
    /// Not a plain decimal number such as `0.15`.
    #[error("not a decimal number such as \"0.15\" (digits, at most one point, no sign, no exponent)")]
    NotDecimal,
    /// More decimals than are kept.
    #[error("more than {0} decimals")]
    TooPrecise(usize),
    /// Beyond the largest value.
    #[error("larger than {0}")]
    TooLarge(u64),
}

fn parse(text: &str, places: usize, max_whole: u64) -> Result<u64, DecimalError> {
    let (whole, fraction) = match text.split_once('.') {
        Some((_, "")) => return Err(DecimalError::NotDecimal),
        Some(parts) => parts,
        None => (text, ""),
    };
    if whole.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
        return Err(DecimalError::NotDecimal);
    }
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > places {
        return Err(DecimalError::TooPrecise(places));
    }
    let max = max_whole * 10_u64.pow(u32::try_from(places).unwrap_or(0));
    let mut value: u64 = 0;
    let padding = std::iter::repeat_n(b'0', places - fraction.len());
    for digit in whole.bytes().chain(fraction.bytes()).chain(padding) {
        // `max` is far below u64::MAX / 10, so a value that passed the test of the digit before can't overflow.
        value = value * 10 + u64::from(digit - b'0');
        if value > max {
            return Err(DecimalError::TooLarge(max_whole));
        }
    }
    Ok(value)
}

fn write(f: &mut fmt::Formatter<'_>, value: u64, places: usize) -> fmt::Result {
    let one = 10_u64.pow(u32::try_from(places).unwrap_or(0));
    let (whole, fraction) = (value / one, value % one);
    if fraction == 0 {
        return write!(f, "{whole}");
    }
    let digits = format!("{fraction:0places$}");
    write!(f, "{whole}.{}", digits.trim_end_matches('0'))
}

macro_rules! decimals {
    ($($(#[$doc:meta])* $name:ident: $places:literal places, at most $max:literal, $reader:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u64);

        impl $name {
            /// Decimals that are kept.
            pub const PLACES: usize = $places;
            /// Nothing.
            pub const ZERO: Self = Self(0);
            /// One.
            pub const ONE: Self = Self(10_u64.pow($places));

            /// Reads digits with at most one point.
            ///
            /// # Errors
            /// Says whether the text is no decimal, too precise or too large.
            pub fn parse(text: &str) -> Result<Self, DecimalError> {
                parse(text, $places, $max).map(Self)
            }

            /// The value in steps of its last decimal.
            #[must_use]
            pub const fn steps(self) -> u64 {
                self.0
            }
        }

        impl FromStr for $name {
            type Err = DecimalError;
            fn from_str(text: &str) -> Result<Self, DecimalError> {
                Self::parse(text)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write(f, self.0, $places)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any($reader).and_then(|text| Self::parse(&text).map_err(de::Error::custom))
            }
        }
    )*};
}

decimals! {
    /// A price in credits, per 1 000 000 tokens or each. One step is one hundred millionth of a credit.
    Price: 8 places, at most 90_000_000, TextOnly;
    /// A factor on a charge: a tenant's, a target's, or the safety factor of an estimate.
    Multiplier: 4 places, at most 10_000_000, TextOrNumber;
    /// How many tokens of a token-metered tenant one token weighs.
    Weight: 8 places, at most 1_000_000, TextOrNumber;
}

impl Multiplier {
    /// A value known when the code is written, in ten thousandths.
    pub(crate) const fn from_steps(steps: u64) -> Self {
        Self(steps)
    }
}

impl Default for Multiplier {
    fn default() -> Self {
        Self::ONE
    }
}

macro_rules! readers {
    ($($(#[$doc:meta])* $name:ident { $($method:item)* })*) => {$(
        $(#[$doc])*
        struct $name;

        impl de::Visitor<'_> for $name {
            type Value = String;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a decimal number as a string, such as \"0.15\"")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<String, E> {
                Ok(text.to_owned())
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<String, E> {
                Ok(number.to_string())
            }

            $($method)*
        }
    )*};
}

readers! {
    /// Takes the text of a string or of a whole number.
    TextOnly {}
    /// Takes the shortest text of a number with a point too: the digits that were written, up to 15 of them.
    TextOrNumber {
        fn visit_f64<E: de::Error>(self, number: f64) -> Result<String, E> {
            Ok(number.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_decimals_are_read() {
        for text in ["", ".", "1.", ".5", "-1", "+1", "1e3", "NaN", " 1", "1 ", "1,5", "1.2.3", "٣"] {
            assert_eq!(Price::parse(text), Err(DecimalError::NotDecimal), "{text:?}");
        }
        assert_eq!(Price::parse("0.000000001"), Err(DecimalError::TooPrecise(8)));
        assert_eq!(Price::parse("0.0000000010"), Err(DecimalError::TooPrecise(8)));
        assert_eq!(Multiplier::parse("1.00001"), Err(DecimalError::TooPrecise(4)));
        assert_eq!(Price::parse("90000000.00000001"), Err(DecimalError::TooLarge(90_000_000)));
        assert_eq!(Price::parse("9999999999999999999999999"), Err(DecimalError::TooLarge(90_000_000)));
        assert_eq!(Price::parse("0.15000000").unwrap().to_string(), "0.15");
        assert_eq!(Price::parse("007").unwrap().to_string(), "7");
    }

    #[test]
    fn json_is_a_string_and_never_a_float() {
        assert_eq!(serde_json::from_str::<Price>("\"0.15\"").unwrap(), Price(15_000_000));
        assert_eq!(serde_json::from_str::<Price>("3").unwrap(), Price(300_000_000));
        for bad in ["0.15", "3.0", "-3", "1e3", "null", "true", "\"1e3\"", "[1]"] {
            assert!(serde_json::from_str::<Price>(bad).is_err(), "{bad}");
        }
        for (number, text) in
            [("1.05", "1.05"), ("0.1", "0.1"), ("2.0", "2"), ("9999999.9999", "9999999.9999"), ("1e3", "1000")]
        {
            assert_eq!(serde_json::from_str::<Multiplier>(number).unwrap().to_string(), text);
        }
        for bad in ["1.00001", "-1.5", "1e-5", "1e300", "0.30000000000000004"] {
            assert!(serde_json::from_str::<Multiplier>(bad).is_err(), "{bad}");
        }
        assert_eq!(serde_json::to_string(&Multiplier::parse("1.0500").unwrap()).unwrap(), "\"1.05\"");
    }

    proptest::proptest! {
        #[test]
        fn text_and_value_agree(steps in 0..=9_000_000_000_000_000_u64) {
            let price = Price(steps);
            proptest::prop_assert_eq!(Price::parse(&price.to_string()), Ok(price));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC*") {
            let _ = (Price::parse(&text), Multiplier::parse(&text), Weight::parse(&text));
        }
    }
}
