//! How a copy of an account compares with the truth. Pure: who reads, reads Redis first and Postgres after it.

use serde::{Deserialize, Serialize};

use crate::amount::Amount;
use crate::snapshot::{Numbers, Snapshot};

/// What is found when Redis' copy of an account is laid beside Postgres' row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// They are the same.
    Equal,
    /// Redis holds none: the next request loads it.
    Absent,
    /// Redis holds an older version: a push is under way, or is made within seconds. Old is safe: it admits less, or the
    /// freezes of what was recorded since are still there.
    Behind,
    /// Redis holds a version that Postgres has not reached: Postgres has lost commits. Needs a person.
    Ahead,
    /// The same version with other totals: the copy is wrong and is to be written again from Postgres.
    Different,
    /// The copy's `frozen` is not the sum of the freezes beside it.
    FrozenDiffers,
}

impl Verdict {
    /// The word used in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Absent => "absent",
            Self::Behind => "behind",
            Self::Ahead => "ahead",
            Self::Different => "different",
            Self::FrozenDiffers => "frozen_differs",
        }
    }

    /// True where nothing mends itself: somebody must look, or a repair must run.
    #[must_use]
    pub const fn is_wrong(self) -> bool {
        matches!(self, Self::Ahead | Self::Different | Self::FrozenDiffers)
    }

    /// True where writing the copy again from Postgres mends it.
    #[must_use]
    pub const fn is_repairable(self) -> bool {
        matches!(self, Self::Different | Self::FrozenDiffers)
    }
}

/// Compares one account. `frozen` is the sum of the live freezes that name it.
#[must_use]
pub fn compare(truth: &Snapshot, copy: Option<&Numbers>, frozen: Amount) -> Verdict {
    let Some(copy) = copy else { return Verdict::Absent };
    if copy.frozen != frozen {
        return Verdict::FrozenDiffers;
    }
    match copy.version.cmp(&truth.version) {
        std::cmp::Ordering::Less => Verdict::Behind,
        std::cmp::Ordering::Greater => Verdict::Ahead,
        std::cmp::Ordering::Equal => {
            let same = copy.total == truth.total
                && copy.used == truth.used
                && copy.limit == truth.limit
                && copy.status == truth.status;
            if same { Verdict::Equal } else { Verdict::Different }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::TenantId;
    use crate::scope::Scope;
    use crate::snapshot::Status;

    fn amount(units: i64) -> Amount {
        Amount::new(units).unwrap()
    }

    fn truth() -> Snapshot {
        Snapshot {
            scope: Scope::Tenant(TenantId::from_uuid(uuid::Uuid::nil())),
            incarnation: 1,
            version: 7,
            total: Some(amount(100)),
            credit_limit: amount(0),
            limit: Some(amount(100)),
            used: amount(30),
            status: Status::Active,
            valid_until_ms: None,
            lapse_version: 0,
            lapsed: Amount::ZERO,
            limits: crate::LimitSet::default(),
            share: None,
        }
    }

    #[test]
    fn each_difference_has_its_verdict() {
        let truth = truth();
        let copy = Numbers::of(&truth, amount(20));
        assert_eq!(compare(&truth, Some(&copy), amount(20)), Verdict::Equal);
        assert_eq!(compare(&truth, None, amount(0)), Verdict::Absent);
        assert_eq!(compare(&truth, Some(&copy), amount(19)), Verdict::FrozenDiffers);
        let of_version = |version| Numbers { version, ..copy.clone() };
        assert_eq!(compare(&truth, Some(&of_version(6)), amount(20)), Verdict::Behind);
        assert_eq!(compare(&truth, Some(&of_version(8)), amount(20)), Verdict::Ahead);
        for other in [
            Numbers { used: amount(29), ..copy.clone() },
            Numbers { total: None, ..copy.clone() },
            Numbers { limit: Some(amount(1)), ..copy.clone() },
            Numbers { status: Status::Suspended, ..copy.clone() },
        ] {
            assert_eq!(compare(&truth, Some(&other), amount(20)), Verdict::Different);
        }
    }

    #[test]
    fn only_a_wrong_copy_asks_for_something() {
        let wrong = [Verdict::Ahead, Verdict::Different, Verdict::FrozenDiffers];
        for verdict in [Verdict::Equal, Verdict::Absent, Verdict::Behind].into_iter().chain(wrong) {
            assert_eq!(verdict.is_wrong(), wrong.contains(&verdict), "{verdict:?}");
            assert_eq!(serde_json::to_value(verdict).unwrap(), verdict.as_str());
        }
        assert!(!Verdict::Ahead.is_repairable(), "what Postgres lost can't be had back from Redis");
    }
}
