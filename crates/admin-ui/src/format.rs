//! Figures for people, from the API's decimal strings: grouped digits, a true minus sign, cut off and never rounded.

use domain::{Amount, Unit};

/// Decimals of a credit that are written strong; the others follow smaller.
const STRONG_DECIMALS: usize = 2;

/// A decimal string split for showing: `12,345.67` and the exact rest `890000`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// Sign, grouped digits and at most two decimals.
    pub head: String,
    /// The decimals that follow; empty for tokens.
    pub tail: String,
}

/// Splits a decimal string such as `-12345.67890000`.
#[must_use]
pub fn figure(text: &str) -> Figure {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("\u{2212}", digits),
        None => ("", text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let (strong, tail) = fraction.split_at_checked(STRONG_DECIMALS).unwrap_or((fraction, ""));
    let point = if strong.is_empty() { "" } else { "." };
    Figure { head: format!("{sign}{}{point}{strong}", grouped(whole)), tail: tail.to_owned() }
}

/// A decimal string cut off towards zero at two decimals: `12,345.67`.
#[must_use]
pub fn short(text: &str) -> String {
    figure(text).head
}

/// An amount cut off towards zero at two decimals.
#[must_use]
pub fn amount(value: Amount, unit: Unit) -> String {
    short(&value.format(unit))
}

/// An amount without trailing zeros, for captions: `12,000`, `0.5`.
#[must_use]
pub fn caption(value: Amount, unit: Unit) -> String {
    let short = amount(value, unit);
    match short.split_once('.') {
        Some((whole, "00")) => whole.to_owned(),
        Some(_) => short.trim_end_matches('0').to_owned(),
        None => short,
    }
}

/// An integer with grouped digits.
#[must_use]
pub fn integer(value: i64) -> String {
    let sign = if value < 0 { "\u{2212}" } else { "" };
    format!("{sign}{}", grouped(&value.unsigned_abs().to_string()))
}

/// A count with grouped digits.
#[must_use]
pub fn count(value: u64) -> String {
    grouped(&value.to_string())
}

/// A decimal string with all of its decimals but the zeros at the end, at least two: `0.54245190`, `12.50`.
#[must_use]
pub fn exact(text: &str) -> String {
    let figure = figure(text);
    format!("{}{}", figure.head, figure.tail.trim_end_matches('0'))
}

/// Milliseconds as seconds with three decimals: `64.352 s`.
#[must_use]
pub fn seconds(ms: i64) -> String {
    let sign = if ms < 0 { "\u{2212}" } else { "" };
    let ms = ms.unsigned_abs();
    format!("{sign}{}.{:03} s", grouped(&(ms / 1000).to_string()), ms % 1000)
}

fn grouped(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `part` of `whole` in tenths of a percent, written `70.1 %`; empty where `whole` is not above zero.
#[must_use]
pub fn percent(part: Amount, whole: Amount) -> String {
    if !whole.is_positive() {
        return String::new();
    }
    let tenths = i128::from(part.units()) * 1000 / i128::from(whole.units());
    let sign = if tenths < 0 { "\u{2212}" } else { "" };
    let tenths = tenths.unsigned_abs();
    format!("{sign}{}.{} %", tenths / 10, tenths % 10)
}

/// What a person typed into an amount field as the API's decimal string: grouping and spaces removed, a true minus read.
/// It may still be no decimal; the API then says so at the field.
#[must_use]
pub fn typed_amount(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && *c != ',').map(|c| if c == '\u{2212}' { '-' } else { c }).collect()
}

/// An id cut in the middle: `req_01JDQ9W8…7F2M`.
#[must_use]
pub fn short_id(id: &str) -> String {
    const HEAD: usize = 12;
    const TAIL: usize = 4;
    match (id.get(..HEAD), id.get(id.len().saturating_sub(TAIL)..)) {
        (Some(head), Some(tail)) if id.len() > HEAD + TAIL + 1 => format!("{head}…{tail}"),
        _ => id.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_cut_and_never_rounded() {
        assert_eq!(figure("8412.37104500"), Figure { head: "8,412.37".into(), tail: "104500".into() });
        assert_eq!(short("-0.99999999"), "\u{2212}0.99");
        assert_eq!(short("1234567"), "1,234,567");
        assert_eq!(figure("1234567").tail, "");
        assert_eq!(short("999.99900000"), "999.99");
        assert_eq!(short("100000.5"), "100,000.5");
    }

    #[test]
    fn exact_amounts_lose_only_zeros_at_the_end() {
        assert_eq!(exact("0.54245190"), "0.5424519");
        assert_eq!(exact("12.50000000"), "12.50");
        assert_eq!(exact("1200"), "1,200");
        assert_eq!(count(46_478), "46,478");
    }

    #[test]
    fn captions_drop_empty_decimals() {
        let of = |text| caption(Amount::parse(text, Unit::Credit).unwrap(), Unit::Credit);
        assert_eq!(of("12000"), "12,000");
        assert_eq!(of("0.5"), "0.5");
        assert_eq!(of("-2.345"), "\u{2212}2.34");
    }

    #[test]
    fn durations_are_seconds() {
        assert_eq!(seconds(64_352), "64.352 s");
        assert_eq!(seconds(7), "0.007 s");
        assert_eq!(seconds(-1500), "\u{2212}1.500 s");
    }

    #[test]
    fn percents_have_one_decimal() {
        let of = |text| Amount::parse(text, Unit::Credit).unwrap();
        assert_eq!(percent(of("8412.37"), of("12000")), "70.1 %");
        assert_eq!(percent(of("-1"), of("8")), "\u{2212}12.5 %");
        assert_eq!(percent(of("1"), of("0")), "");
        assert_eq!(percent(Amount::MAX, Amount::MAX), "100.0 %");
    }

    #[test]
    fn typed_amounts_lose_their_decoration() {
        assert_eq!(typed_amount(" 3,000.50 "), "3000.50");
        assert_eq!(typed_amount("\u{2212}3"), "-3");
        assert_eq!(typed_amount("1e3"), "1e3");
    }

    #[test]
    fn ids_are_cut_in_the_middle() {
        assert_eq!(short_id("req_01jdq9w8abcdefghijklmno7f2m"), "req_01jdq9w8…7f2m");
        assert_eq!(short_id("t_1"), "t_1");
    }
}
