//! Money as an integer. One credit is 100 000 000 units; a tenant metered in tokens counts whole weighted tokens.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Largest magnitude of an [`Amount`]: 2^53 - 1, the largest integer that a Redis script (a double) holds exactly.
pub const MAX_UNITS: i64 = (1 << 53) - 1;
/// Units of one credit (8 decimals).
pub const UNITS_PER_CREDIT: i64 = 100_000_000;

/// What an amount counts: `credit` (8 decimals) or `token` (none).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Credits, shown with 8 decimals.
    #[default]
    Credit,
    /// Weighted tokens, shown without decimals.
    Token,
}

impl Unit {
    /// Decimals shown for this unit.
    #[must_use]
    pub const fn decimals(self) -> usize {
        match self {
            Self::Credit => 8,
            Self::Token => 0,
        }
    }

    /// The word used in JSON and SQL.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Credit => "credit",
            Self::Token => "token",
        }
    }
}

/// An integer amount of a unit, |units| <= 2^53 - 1. Arithmetic is checked; nothing rounds silently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Amount(i64);

/// Why a number is no amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AmountError {
    /// Beyond 2^53 - 1 units.
    #[error("the amount is beyond 2^53 - 1 units (90071992.54740991 credits)")]
    OutOfRange,
    /// Not a plain decimal number such as `-12.5`.
    #[error("not a decimal number such as \"12.50\"")]
    NotDecimal,
    /// More decimals than the unit has.
    #[error("more decimals than the unit has (credits: 8, tokens: 0)")]
    TooPrecise,
}

impl Amount {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// The largest amount.
    pub const MAX: Self = Self(MAX_UNITS);

    /// Makes an amount of `units`.
    ///
    /// # Errors
    /// [`AmountError::OutOfRange`] beyond 2^53 - 1.
    pub const fn new(units: i64) -> Result<Self, AmountError> {
        if units > MAX_UNITS || units < -MAX_UNITS { Err(AmountError::OutOfRange) } else { Ok(Self(units)) }
    }

    /// The number of units.
    #[must_use]
    pub const fn units(self) -> i64 {
        self.0
    }

    /// Sum, or `OutOfRange`.
    ///
    /// # Errors
    /// [`AmountError::OutOfRange`] beyond 2^53 - 1.
    pub const fn checked_add(self, other: Self) -> Result<Self, AmountError> {
        Self::new(self.0 + other.0) // two values below 2^53 never overflow an i64
    }

    /// Difference, or `OutOfRange`.
    ///
    /// # Errors
    /// [`AmountError::OutOfRange`] beyond 2^53 - 1.
    pub const fn checked_sub(self, other: Self) -> Result<Self, AmountError> {
        Self::new(self.0 - other.0)
    }

    /// Sum, held at the largest amount: for estimates, where more than everything is as good as everything.
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        let sum = self.0 + other.0;
        if sum > MAX_UNITS {
            Self(MAX_UNITS)
        } else if sum < -MAX_UNITS {
            Self(-MAX_UNITS)
        } else {
            Self(sum)
        }
    }

    /// The smaller of the two.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        Ord::min(self, other)
    }

    /// The larger of the two.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Ord::max(self, other)
    }

    /// True above zero.
    #[must_use]
    pub const fn is_positive(self) -> bool {
        self.0 > 0
    }

    /// True below zero.
    #[must_use]
    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }

    /// Reads a decimal string of `unit`: optional minus, digits, at most the unit's decimals. No exponent, no plus, no spaces.
    ///
    /// # Errors
    /// Says whether the text is no decimal, too precise or too large.
    pub fn parse(text: &str, unit: Unit) -> Result<Self, AmountError> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (whole, fraction) = match digits.split_once('.') {
            Some((_, "")) => return Err(AmountError::NotDecimal),
            Some(parts) => parts,
            None => (digits, ""),
        };
        if whole.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
            return Err(AmountError::NotDecimal);
        }
        let decimals = unit.decimals();
        let fraction = fraction.trim_end_matches('0');
        if fraction.len() > decimals {
            return Err(AmountError::TooPrecise);
        }
        let mut units: i64 = 0;
        let padding = std::iter::repeat_n(b'0', decimals - fraction.len());
        for digit in whole.bytes().chain(fraction.bytes()).chain(padding) {
            units = units * 10 + i64::from(digit - b'0');
            if units > MAX_UNITS {
                return Err(AmountError::OutOfRange);
            }
        }
        Ok(Self(if negative { -units } else { units }))
    }

    /// Writes the decimal string of `unit`, always with all of its decimals: `"12.34567890"`.
    #[must_use]
    pub fn format(self, unit: Unit) -> String {
        match unit {
            Unit::Token => self.0.to_string(),
            Unit::Credit => {
                let sign = if self.0 < 0 { "-" } else { "" };
                let magnitude = self.0.unsigned_abs();
                let per = UNITS_PER_CREDIT.unsigned_abs();
                format!("{sign}{}.{:08}", magnitude / per, magnitude % per)
            }
        }
    }
}

impl fmt::Display for Amount {
    /// The number of units, for logs and Redis.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_kept() {
        assert!(Amount::new(MAX_UNITS).is_ok());
        assert_eq!(Amount::new(MAX_UNITS + 1), Err(AmountError::OutOfRange));
        assert_eq!(Amount::MAX.checked_add(Amount::new(1).unwrap()), Err(AmountError::OutOfRange));
        assert_eq!(Amount::parse("90071992.54740992", Unit::Credit), Err(AmountError::OutOfRange));
        assert_eq!(Amount::parse("90071992.54740991", Unit::Credit), Ok(Amount::MAX));
    }

    #[test]
    fn only_plain_decimals_are_read() {
        for text in ["", "-", ".", "1.", ".5", "+1", "1e9", "NaN", "1 ", " 1", "0x1", "1,5", "--1", "1.-5", "1e309"] {
            assert_eq!(Amount::parse(text, Unit::Credit), Err(AmountError::NotDecimal), "{text:?}");
        }
        assert_eq!(Amount::parse("0.000000001", Unit::Credit), Err(AmountError::TooPrecise));
        assert_eq!(Amount::parse("1.5", Unit::Token), Err(AmountError::TooPrecise));
        assert_eq!(Amount::parse("1.0", Unit::Token), Ok(Amount::new(1).unwrap()));
    }

    proptest::proptest! {
        #[test]
        fn format_and_parse_agree(units in -MAX_UNITS..=MAX_UNITS) {
            let amount = Amount::new(units).unwrap();
            for unit in [Unit::Credit, Unit::Token] {
                proptest::prop_assert_eq!(Amount::parse(&amount.format(unit), unit), Ok(amount));
            }
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC*") {
            let _ = Amount::parse(&text, Unit::Credit);
        }
    }
}
