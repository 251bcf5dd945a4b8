//! The last 24 hours, hour by hour: what was not used has no entry at the API, and a gap in the plot.

use std::time::Duration;

use api_types::Timestamp;
use api_types::platform::Overview;
use api_types::usage::UsageSum;
use domain::{Amount, Unit};

use crate::browser;
use crate::components::plot::Figure;
use crate::format;
use crate::i18n::Language;
use crate::plot::Stack;

const HOURS: usize = 24;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Charges.
    Charge,
    /// Admitted requests.
    Requests,
    /// Tokens in and out.
    Tokens,
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Charge, Self::Requests, Self::Tokens];

    /// In the address and in controls.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Charge => "charge",
            Self::Requests => "requests",
            Self::Tokens => "tokens",
        }
    }

    /// The one with this word; charges where there is none.
    #[must_use]
    pub fn of(word: &str) -> Self {
        Self::ALL.into_iter().find(|measure| measure.word() == word).unwrap_or(Self::Charge)
    }

    /// For people.
    #[must_use]
    pub const fn words(self, t: Language) -> &'static str {
        match self {
            Self::Charge => t.spend(),
            Self::Requests => t.requests(),
            Self::Tokens => t.tokens(),
        }
    }

    /// Its value in a sum.
    #[must_use]
    pub fn value(self, sum: &UsageSum) -> i128 {
        match self {
            Self::Charge => units(sum.charge.as_str()),
            Self::Requests => sum.requests.into(),
            Self::Tokens => i128::from(sum.prompt_tokens) + i128::from(sum.completion_tokens),
        }
    }

    /// How many units make one.
    #[must_use]
    pub fn one(self, unit: Unit) -> i128 {
        if self == Self::Charge { one_of(unit) } else { 1 }
    }
}

/// How many units make one of an amount.
#[must_use]
pub fn one_of(unit: Unit) -> i128 {
    Amount::parse("1", unit).map_or(1, |one| one.units().into())
}

/// A decimal string of the API as units of its last place. Sums may be larger than any amount.
#[must_use]
pub fn units(text: &str) -> i128 {
    let digits: String = text.chars().filter(|c| c.is_ascii_digit() || *c == '-').collect();
    digits.parse().unwrap_or(0)
}

/// Units as an exact decimal for people.
#[must_use]
pub fn exact(value: i128, one: i128) -> String {
    let one = one.max(1);
    let (sign, value) = if value < 0 { ("-", -value) } else { ("", value) };
    let width = one.to_string().len() - 1;
    let (whole, rest) = (value / one, value % one);
    format::exact(&if width == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{rest:0width$}") })
}

/// The hours of one unit.
pub struct Hours {
    /// How many units make one of a charge.
    pub one: i128,
    /// Admitted.
    pub requests: i64,
    /// Not admitted.
    pub refused: i64,
    /// Tokens in.
    pub prompt: i64,
    /// Tokens out.
    pub completion: i64,
    unit: Unit,
    /// Each hour's beginning and sum, oldest first.
    slots: Vec<(Timestamp, Option<UsageSum>)>,
}

impl Hours {
    /// Sorts the API's entries into hours.
    #[must_use]
    pub fn of(data: &Overview, unit: &str) -> Self {
        let unit = if unit == "token" { Unit::Token } else { Unit::Credit };
        let ours: Vec<&UsageSum> = data.hours.iter().filter(|sum| sum.unit == unit).collect();
        let total = |count: fn(&UsageSum) -> i64| ours.iter().map(|sum| count(sum)).sum();
        let hour = |at: Timestamp| at.instant().unix_timestamp() / 3600;
        let slot = |back: usize| {
            let at = data.as_of.instant() - Duration::from_secs(3600) * u32::try_from(back).unwrap_or(0);
            let at = Timestamp::from(at);
            let sum = ours.iter().find(|sum| hour(sum.bucket) == hour(at)).map(|sum| (*sum).clone());
            (sum.as_ref().map_or(at, |sum| sum.bucket), sum)
        };
        Self {
            one: one_of(unit),
            requests: total(|sum| sum.requests),
            refused: total(|sum| sum.refused),
            prompt: total(|sum| sum.prompt_tokens),
            completion: total(|sum| sum.completion_tokens),
            unit,
            slots: (0..HOURS).rev().map(slot).collect(),
        }
    }

    /// All hours together.
    #[must_use]
    pub fn sum(&self, measure: Measure) -> i128 {
        self.slots.iter().filter_map(|(_, sum)| sum.as_ref()).map(|sum| measure.value(sum)).sum()
    }

    /// As a plot.
    #[must_use]
    pub fn figure(&self, t: Language, measure: Measure) -> Figure {
        let one = measure.one(self.unit);
        let stack = |(at, sum): &(Timestamp, Option<UsageSum>)| {
            let parts = [("hour", "2-digit"), ("hourCycle", "h23")];
            let hour = browser::written(&at.to_string(), "en-GB", None, &parts);
            Stack { words: format!("{hour}:00"), values: vec![sum.as_ref().map_or(0, |sum| measure.value(sum))] }
        };
        let stacks: Vec<Stack> = self.slots.iter().map(stack).collect();
        let most = stacks.iter().map(Stack::sum).max().unwrap_or(0);
        let label = t.plot_of_hours(measure.words(t), &exact(self.sum(measure), one), &exact(most, one));
        Figure { stacks, names: vec![measure.words(t).to_owned()], one, label }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_larger_than_any_amount_are_kept_exactly() {
        assert_eq!(units("184467440737095.51615000"), 18_446_744_073_709_551_615_000);
        assert_eq!(exact(18_446_744_073_709_551_615_000, 100_000_000), "184,467,440,737,095.51615");
        assert_eq!(exact(units("0.00000001"), 100_000_000), "0.00000001");
        assert_eq!(exact(1_234, 1), "1,234");
        assert_eq!(exact(-150_000_000, 100_000_000), "\u{2212}1.50");
    }
}
