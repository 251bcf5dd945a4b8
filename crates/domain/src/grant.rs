//! Grants: quota given to a tenant. The order in which they are spent, and what becomes due on them with time.
//!
//! Everything here decides; the record and load transactions write what was decided.

mod burn;
mod due;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::amount::Amount;
use crate::ids::GrantId;

pub use burn::{Allocation, Unburnt, apply, burn, burn_order, repay, unburn};
pub use due::{Change, Due, DueChange, MAX_RENEWALS, Plan, due};

/// What kind of quota a grant is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantKind {
    /// Comes again each period.
    Plan,
    /// Given once, usually with an end.
    Temporary,
    /// Given for free; spent first.
    Gift,
}

impl GrantKind {
    /// The word used in JSON and SQL.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Temporary => "temporary",
            Self::Gift => "gift",
        }
    }

    /// Reads the word back; `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Plan, Self::Temporary, Self::Gift].into_iter().find(|kind| kind.as_str() == text)
    }

    /// The priority where none is named; lower is spent first.
    #[must_use]
    pub const fn default_priority(self) -> i32 {
        match self {
            Self::Gift => 10,
            Self::Temporary => 20,
            Self::Plan => 30,
        }
    }
}

/// Where a grant stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantStatus {
    /// Begins later.
    Pending,
    /// Part of the account's total.
    InForce,
    /// Ended by a person.
    Ended,
    /// Past its end.
    Lapsed,
}

impl GrantStatus {
    /// The word used in JSON and SQL.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InForce => "in_force",
            Self::Ended => "ended",
            Self::Lapsed => "lapsed",
        }
    }

    /// Reads the word back; `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Pending, Self::InForce, Self::Ended, Self::Lapsed].into_iter().find(|status| status.as_str() == text)
    }
}

/// A grant with what was spent of it: 0 <= used <= amount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantBalance {
    /// The grant.
    pub id: GrantId,
    /// Its kind.
    pub kind: GrantKind,
    /// Lower is spent first.
    pub priority: i32,
    /// What it gives.
    pub amount: Amount,
    /// What was spent of it.
    pub used: Amount,
    /// From when it may be spent.
    pub starts_at: Timestamp,
    /// Until when; none: for ever.
    pub ends_at: Option<Timestamp>,
    /// When it was given.
    pub created_at: Timestamp,
    /// Where it stands.
    pub status: GrantStatus,
}

impl GrantBalance {
    /// What is left of it, never below zero.
    #[must_use]
    pub fn remaining(&self) -> Amount {
        self.amount.checked_sub(self.used).unwrap_or_default().max(Amount::ZERO)
    }
}
