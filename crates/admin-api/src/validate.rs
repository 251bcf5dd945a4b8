//! Collects what is wrong with a body, so that a caller learns everything at once.

use api_types::{Decimal, Factor, FieldError};
use domain::amount::AmountError;
use domain::{Amount, Unit};

use crate::error::{Error, Result};

/// Fields that were refused so far.
#[derive(Debug, Default)]
pub struct Fields(Vec<FieldError>);

impl Fields {
    /// Nothing refused.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Refuses a field.
    pub fn refuse(&mut self, field: &str, code: &str, message: impl Into<String>) {
        self.0.push(FieldError { field: field.to_owned(), code: code.to_owned(), message: message.into() });
    }

    /// Refuses a field unless `ok`.
    pub fn check(&mut self, ok: bool, field: &str, code: &str, message: &str) {
        if !ok {
            self.refuse(field, code, message);
        }
    }

    /// Checks a part of the body, whose fields are named behind `path`.
    pub fn within<T>(&mut self, path: &str, part: impl FnOnce(&mut Self) -> T) -> T {
        let mut inner = Self::new();
        let value = part(&mut inner);
        let named = |error: FieldError| FieldError { field: format!("{path}.{}", error.field), ..error };
        self.0.extend(inner.0.into_iter().map(named));
        value
    }

    /// A text of 1 to `max` characters, not blank, without control characters. Returns it trimmed.
    pub fn text(&mut self, field: &str, value: &str, max: usize) -> String {
        let value = value.trim();
        self.check(!value.is_empty(), field, "required", "must not be empty");
        self.check(value.chars().count() <= max, field, "too_long", &format!("at most {max} characters"));
        self.check(!value.chars().any(char::is_control), field, "invalid", "must not contain control characters");
        value.to_owned()
    }

    /// A text that may be empty, of at most `max` characters; line breaks are fine, other control characters not.
    pub fn note(&mut self, field: &str, value: &str, max: usize) -> String {
        self.check(value.chars().count() <= max, field, "too_long", &format!("at most {max} characters"));
        let clean = !value.chars().any(|c| c.is_control() && c != '\n' && c != '\t');
        self.check(clean, field, "invalid", "must not contain control characters");
        value.to_owned()
    }

    /// A number between two bounds.
    pub fn range<T: PartialOrd + std::fmt::Display + Copy>(&mut self, field: &str, value: T, least: T, most: T) -> T {
        self.check(
            value >= least && value <= most,
            field,
            "out_of_range",
            &format!("must be between {least} and {most}"),
        );
        value
    }

    /// An amount of the unit, not negative. Zero where it was refused: [`Fields::done`] ends the call then.
    pub fn amount(&mut self, field: &str, value: &Decimal, unit: Unit) -> Amount {
        let refused = match value.amount(unit) {
            Ok(amount) if amount.is_negative() => ("out_of_range", "must not be negative".to_owned()),
            Ok(amount) => return amount,
            Err(why) => (amount_code(why), why.to_string()),
        };
        self.refuse(field, refused.0, refused.1);
        Amount::ZERO
    }

    /// A change of an amount: below or above zero.
    pub fn delta(&mut self, field: &str, value: &Decimal, unit: Unit) -> Amount {
        match value.amount(unit) {
            Ok(amount) => {
                self.check(amount != Amount::ZERO, field, "out_of_range", "must not be zero");
                amount
            }
            Err(why) => {
                self.refuse(field, amount_code(why), why.to_string());
                Amount::ZERO
            }
        }
    }

    /// An amount above zero.
    pub fn positive(&mut self, field: &str, value: &Decimal, unit: Unit) -> Amount {
        let before = self.0.len();
        let amount = self.amount(field, value, unit);
        if self.0.len() == before {
            self.check(amount.is_positive(), field, "out_of_range", "must be above zero");
        }
        amount
    }

    /// A factor of at most 4 places between two bounds, given in ten-thousandths. Returns its text.
    pub fn factor(&mut self, field: &str, value: &Factor, least: u64, most: u64) -> String {
        match ten_thousandths(value.as_str()) {
            None => self.refuse(field, "too_precise", "must be a decimal with at most 4 places, not negative"),
            Some(number) => {
                let message = format!("must be between {} and {}", fraction(least), fraction(most));
                self.check(number >= least && number <= most, field, "out_of_range", &message);
            }
        }
        value.as_str().to_owned()
    }

    /// Ends the call where something was refused.
    ///
    /// # Errors
    /// 422 with every refused field.
    pub fn done(self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(Error::fields(self.0)) }
    }
}

/// A stable code for an amount that is none.
const fn amount_code(why: AmountError) -> &'static str {
    match why {
        AmountError::OutOfRange => "out_of_range",
        AmountError::NotDecimal => "invalid",
        AmountError::TooPrecise => "too_precise",
    }
}

fn ten_thousandths(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > 4 {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let fraction: u64 = format!("{fraction:0<4}").parse().ok()?;
    whole.checked_mul(10_000)?.checked_add(fraction)
}

fn fraction(ten_thousandths: u64) -> String {
    let text = format!("{}.{:04}", ten_thousandths / 10_000, ten_thousandths % 10_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_have_four_places() {
        for (text, number) in [
            ("1", Some(10_000)),
            ("1.25", Some(12_500)),
            ("0.0001", Some(1)),
            ("1.00000", Some(10_000)),
            ("0.00001", None),
            ("-1", None),
        ] {
            assert_eq!(ten_thousandths(text), number, "{text}");
        }
        assert_eq!(fraction(12_500), "1.25");
        assert_eq!(fraction(10_000), "1");
    }

    #[test]
    fn everything_wrong_is_said_at_once() {
        let mut fields = Fields::new();
        fields.text("name", "  ", 10);
        fields.text("note", "a\u{7}", 10);
        fields.positive("amount", &Decimal::from_text("0".into()), Unit::Credit);
        fields.amount("limit", &Decimal::from_text("0.000000001".into()), Unit::Credit);
        fields.factor("multiplier", &Factor::from_text("1001".into()), 0, 10_000_000);
        let error = fields.done().unwrap_err();
        let codes: Vec<_> =
            error.parts().errors.iter().map(|error| (error.field.as_str(), error.code.as_str())).collect();
        assert_eq!(
            codes,
            [
                ("name", "required"),
                ("note", "invalid"),
                ("amount", "out_of_range"),
                ("limit", "too_precise"),
                ("multiplier", "out_of_range")
            ]
        );
    }
}
