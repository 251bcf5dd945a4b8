//! Overdraft: how far above total and credit line a tenant may go.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::amount::{Amount, AmountError, Unit};
use crate::amount_text::AmountText;
use crate::field::{FieldError, Reader};
use crate::limits;

/// Percent of the total where an overdraft is enabled without limit or percent.
pub const DEFAULT_OVERDRAFT_PERCENT: u32 = 20;
const MAX_PERCENT: u32 = 1_000;

/// An overdraft, as an amount or as percent of the total. Off by default.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Overdraft {
    /// Whether there is one.
    pub enabled: bool,
    /// As an amount.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<AmountText>,
    /// As percent of the total.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<u32>,
}

impl Overdraft {
    pub(super) fn read(path: &str, value: &Value, unit: Unit) -> Result<Self, Vec<FieldError>> {
        let mut reader = Reader::new(path, value, &["enabled", "limit", "percent"]);
        let overdraft = Self {
            enabled: reader.read("enabled").unwrap_or_default(),
            limit: limits::amount(&mut reader, "limit", unit, false),
            percent: reader.read("percent"),
        };
        if overdraft.percent.is_some_and(|percent| percent > MAX_PERCENT) {
            reader.refuse("percent", "out_of_range", "must be a whole number from 0 to 1000");
        }
        if overdraft.limit.is_some() && overdraft.percent.is_some() {
            reader.refuse("percent", "conflict", "give either limit or percent; set the other to null");
        }
        reader.finish(overdraft)
    }

    /// How much it is for this total; percentages are rounded down, nothing of a total of 0 or less, and never
    /// more than the largest amount.
    ///
    /// # Errors
    /// [`AmountError`] if what is stored is no amount of this unit.
    pub fn limit(&self, total: Amount, unit: Unit) -> Result<Amount, AmountError> {
        if !self.enabled {
            return Ok(Amount::ZERO);
        }
        if let Some(limit) = &self.limit {
            return limit.amount(unit);
        }
        Ok(percent_of(total, self.percent.unwrap_or(DEFAULT_OVERDRAFT_PERCENT)))
    }

    /// The percent of the total that it follows; none where it is off or an amount.
    #[must_use]
    pub fn percent_in_force(&self) -> Option<u32> {
        if !self.enabled || self.limit.is_some() {
            return None;
        }
        Some(self.percent.unwrap_or(DEFAULT_OVERDRAFT_PERCENT))
    }
}

/// A part of a total: rounded down, nothing of a total of 0 or less, never more than the largest amount.
#[must_use]
pub fn percent_of(total: Amount, percent: u32) -> Amount {
    let units = i128::from(total.units().max(0)) * i128::from(percent) / 100;
    i64::try_from(units).ok().and_then(|units| Amount::new(units).ok()).unwrap_or(Amount::MAX)
}
