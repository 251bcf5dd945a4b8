//! What Postgres says of an account at one version: the only thing that ever replaces an account's totals in Redis.

use crate::amount::Amount;
use crate::limits::LimitSet;
use crate::scope::Scope;

/// An account's status. Only `Active` admits requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// In force.
    Active,
    /// Stopped by an operator.
    Suspended,
    /// Ended for good.
    Closed,
    /// Stopped by the reconciler: its sums do not add up.
    Halted,
    /// On its way into a pool or out of one: for an instant it admits nothing.
    Moving,
}

impl Status {
    /// The word used in Redis, SQL and JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Suspended => "suspended",
            Self::Closed => "closed",
            Self::Halted => "halted",
            Self::Moving => "moving",
        }
    }

    /// Reads the word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let all = [Self::Active, Self::Suspended, Self::Closed, Self::Halted, Self::Moving];
        all.into_iter().find(|status| status.as_str() == text)
    }
}

/// A consistent copy of one account's totals, ordered by (incarnation, version).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Whose totals.
    pub scope: Scope,
    /// Grows when the database is restored from a backup.
    pub incarnation: i64,
    /// Grows by one with each change of the account.
    pub version: i64,
    /// Sum of the grants in force, or the budget. None: no limit.
    pub total: Option<Amount>,
    /// Part of what may be spent beyond the total, for customers who pay afterwards.
    pub credit_limit: Amount,
    /// What may be spent in all: total + credit line + overdraft. None: no limit.
    pub limit: Option<Amount>,
    /// What was spent against the total.
    pub used: Amount,
    /// Whether it admits.
    pub status: Status,
    /// When the totals change by themselves next, in ms since 1970 (UTC).
    pub valid_until_ms: Option<i64>,
    /// The version at which grants last ended; 0: never. Requests frozen at a lower version may still use what was left.
    pub lapse_version: i64,
    /// What is left of the grants that ended at `lapse_version`: such requests count against it first.
    pub lapsed: Amount,
    /// Rates, in-flight and the most for one request.
    pub limits: LimitSet,
    /// Of a pool's member: what it is guaranteed. Of a pool: what of its members' guarantees is not spent. None: of others.
    pub share: Option<Amount>,
}

/// The four numbers of an account, with what they stand beside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbers {
    /// Whose numbers.
    pub scope: Scope,
    /// None: no limit.
    pub total: Option<Amount>,
    /// Spent.
    pub used: Amount,
    /// Set aside for running requests.
    pub frozen: Amount,
    /// Credit line.
    pub credit_limit: Amount,
    /// What may be spent in all. None: no limit.
    pub limit: Option<Amount>,
    /// The account's version.
    pub version: i64,
    /// Whether it admits.
    pub status: Status,
    /// When the totals change by themselves next, in ms since 1970 (UTC).
    pub valid_until_ms: Option<i64>,
}

impl Numbers {
    /// The numbers of a snapshot with `frozen` set aside.
    #[must_use]
    pub fn of(snapshot: &Snapshot, frozen: Amount) -> Self {
        Self {
            scope: snapshot.scope.clone(),
            total: snapshot.total,
            used: snapshot.used,
            frozen,
            credit_limit: snapshot.credit_limit,
            limit: snapshot.limit,
            version: snapshot.version,
            status: snapshot.status,
            valid_until_ms: snapshot.valid_until_ms,
        }
    }

    /// total - used - frozen: negative while credit line or overdraft are in use. None: no limit.
    #[must_use]
    pub fn remaining(&self) -> Option<Amount> {
        self.total.map(|total| total.saturating_add(negate(self.used)).saturating_add(negate(self.frozen)))
    }

    /// What may still be set aside, never below zero. None: no limit.
    #[must_use]
    pub fn available(&self) -> Option<Amount> {
        let left = |limit: Amount| limit.saturating_add(negate(self.used)).saturating_add(negate(self.frozen));
        self.limit.map(|limit| left(limit).max(Amount::ZERO))
    }

    /// What may be spent beyond total and credit line.
    #[must_use]
    pub fn overdraft_limit(&self) -> Amount {
        match (self.limit, self.total) {
            (Some(limit), Some(total)) => {
                limit.saturating_add(negate(total)).saturating_add(negate(self.credit_limit)).max(Amount::ZERO)
            }
            _ => Amount::ZERO,
        }
    }

    /// What was spent beyond total and credit line, up to the overdraft's limit.
    #[must_use]
    pub fn overdraft_used(&self) -> Amount {
        self.over().min(self.overdraft_limit())
    }

    /// What was spent beyond everything that may be spent. Only debt blocks.
    #[must_use]
    pub fn debt(&self) -> Amount {
        self.over().saturating_add(negate(self.overdraft_limit())).max(Amount::ZERO)
    }

    fn over(&self) -> Amount {
        let Some(total) = self.total else { return Amount::ZERO };
        self.used.saturating_add(negate(total)).saturating_add(negate(self.credit_limit)).max(Amount::ZERO)
    }
}

const fn negate(amount: Amount) -> Amount {
    // The bounds are symmetric, so the negative of an amount is one too.
    match Amount::ZERO.checked_sub(amount) {
        Ok(negative) => negative,
        Err(_) => Amount::ZERO,
    }
}
