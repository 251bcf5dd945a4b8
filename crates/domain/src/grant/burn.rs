//! How a charge is split over grants, and how a correction goes back.

use std::cmp::Ordering;

use crate::amount::Amount;
use crate::ids::GrantId;

use super::GrantBalance;

/// A part of a charge and the grant that bears it. Negative: given back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allocation {
    /// The grant.
    pub grant_id: GrantId,
    /// Never zero.
    pub amount: Amount,
}

/// Which of two grants is spent first: the lower priority, then the earlier end (none is last), then the older one.
#[must_use]
pub fn burn_order(a: &GrantBalance, b: &GrantBalance) -> Ordering {
    let end = |grant: &GrantBalance| (grant.ends_at.is_none(), grant.ends_at);
    a.priority
        .cmp(&b.priority)
        .then_with(|| end(a).cmp(&end(b)))
        .then_with(|| a.created_at.cmp(&b.created_at))
        .then_with(|| a.id.cmp(&b.id))
}

/// Splits a charge over the grants that may bear it, in burn order, and tells what they do not cover (credit line,
/// overdraft or debt). The parts and the uncovered rest always add up to the charge; nothing for a charge of 0 or less.
///
/// Pass the grants that the request may use: those in force, and those that ended after it was frozen.
#[must_use]
pub fn burn(grants: &[GrantBalance], amount: Amount) -> (Vec<Allocation>, Amount) {
    let mut left = amount.max(Amount::ZERO);
    let mut parts = Vec::new();
    for grant in in_order(grants) {
        let part = grant.remaining().min(left);
        if part.is_positive() {
            parts.push(Allocation { grant_id: grant.id, amount: part });
            left = minus(left, part);
        }
    }
    (parts, left)
}

/// How a downward correction goes back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unburnt {
    /// Taken off what no grant covered.
    pub uncovered: Amount,
    /// Given back to grants: negative amounts, in reverse burn order.
    pub allocations: Vec<Allocation>,
    /// What nobody bears any more: the grants that did are gone.
    pub rest: Amount,
}

/// Gives `amount` back: first off the uncovered part, so that nothing is owed while a grant has something left, then to
/// the grants in reverse burn order. The three parts always add up to the amount.
#[must_use]
pub fn unburn(grants: &[GrantBalance], uncovered: Amount, amount: Amount) -> Unburnt {
    let amount = amount.max(Amount::ZERO);
    let from_uncovered = uncovered.max(Amount::ZERO).min(amount);
    let mut left = minus(amount, from_uncovered);
    let mut allocations = Vec::new();
    for grant in in_order(grants).into_iter().rev() {
        let part = grant.used.min(left);
        if part.is_positive() {
            allocations.push(Allocation { grant_id: grant.id, amount: minus(Amount::ZERO, part) });
            left = minus(left, part);
        }
    }
    Unburnt { uncovered: from_uncovered, allocations, rest: left }
}

/// What a new grant of `amount` bears at once of what no grant covered so far: debt is repaid before anything is spent.
#[must_use]
pub fn repay(uncovered: Amount, amount: Amount) -> Amount {
    uncovered.max(Amount::ZERO).min(amount)
}

/// Adds the parts to `used`, for charging several requests in a row. Parts of other grants are left out.
pub fn apply(grants: &mut [GrantBalance], parts: &[Allocation]) {
    for part in parts {
        if let Some(grant) = grants.iter_mut().find(|grant| grant.id == part.grant_id) {
            grant.used = grant.used.saturating_add(part.amount);
        }
    }
}

fn in_order(grants: &[GrantBalance]) -> Vec<&GrantBalance> {
    let mut order: Vec<&GrantBalance> = grants.iter().collect();
    order.sort_by(|a, b| burn_order(a, b));
    order
}

/// For values between zero and an amount, whose difference is always one.
fn minus(a: Amount, b: Amount) -> Amount {
    a.checked_sub(b).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::{GrantKind, GrantStatus};
    use super::*;
    use jiff::Timestamp;
    use proptest::prelude::*;
    use uuid::Uuid;

    fn amount(units: i64) -> Amount {
        Amount::new(units).unwrap()
    }

    fn grant(id: u128, kind: GrantKind, total: i64, used: i64, ends: Option<i64>) -> GrantBalance {
        GrantBalance {
            id: GrantId::from_uuid(Uuid::from_u128(id)),
            kind,
            priority: kind.default_priority(),
            amount: amount(total),
            used: amount(used),
            starts_at: Timestamp::UNIX_EPOCH,
            ends_at: ends.map(|second| Timestamp::from_second(second).unwrap()),
            created_at: Timestamp::UNIX_EPOCH,
            status: GrantStatus::InForce,
        }
    }

    fn ids(parts: &[Allocation]) -> Vec<(u128, i64)> {
        parts.iter().map(|part| (part.grant_id.uuid().as_u128(), part.amount.units())).collect()
    }

    #[test]
    fn gifts_first_then_temporary_then_plan_then_the_earliest_end_then_the_oldest() {
        let mut older = grant(6, GrantKind::Plan, 1, 0, None);
        older.created_at = Timestamp::from_second(-5).unwrap();
        let mut first = grant(7, GrantKind::Plan, 1, 0, None);
        first.priority = 1;
        let grants = [
            grant(1, GrantKind::Plan, 1, 0, Some(9)),
            grant(2, GrantKind::Temporary, 1, 0, None),
            grant(3, GrantKind::Gift, 1, 0, None),
            grant(4, GrantKind::Temporary, 1, 0, Some(5)),
            grant(5, GrantKind::Plan, 1, 0, None),
            older,
            first,
        ];
        let (parts, uncovered) = burn(&grants, amount(100));
        let order: Vec<u128> = ids(&parts).into_iter().map(|(id, _)| id).collect();
        assert_eq!(order, [7, 3, 4, 2, 1, 6, 5]);
        assert_eq!(uncovered, amount(93));
    }

    #[test]
    fn a_charge_above_the_freeze_is_split_in_one_step() {
        let grants = [grant(1, GrantKind::Plan, 50_000, 0, Some(99)), grant(2, GrantKind::Gift, 100_000, 0, None)];
        let (parts, uncovered) = burn(&grants, amount(160_000));
        assert_eq!(ids(&parts), [(2, 100_000), (1, 50_000)]);
        assert_eq!(uncovered, amount(10_000));
    }

    #[test]
    fn a_correction_takes_off_what_is_owed_first() {
        let grants = [grant(1, GrantKind::Plan, 50, 50, None), grant(2, GrantKind::Gift, 20, 20, None)];
        let back = unburn(&grants, amount(10), amount(70));
        assert_eq!(back.uncovered, amount(10));
        assert_eq!(ids(&back.allocations), [(1, -50), (2, -10)]);
        assert_eq!(back.rest, Amount::ZERO);
        assert_eq!(unburn(&grants, Amount::ZERO, amount(75)).rest, amount(5));
    }

    #[test]
    fn a_new_grant_repays_what_is_owed() {
        assert_eq!(repay(amount(30), amount(100)), amount(30));
        assert_eq!(repay(amount(130), amount(100)), amount(100));
        assert_eq!(repay(amount(-1), amount(100)), Amount::ZERO);
    }

    fn any_grants() -> impl Strategy<Value = Vec<GrantBalance>> {
        let one = (0..3_u8, 1..1_000_i64, 0..=100_i64, proptest::option::of(0..9_i64), 0..3_i64);
        proptest::collection::vec(one, 0..8).prop_map(|many| {
            many.into_iter()
                .zip(1..)
                .map(|((kind, total, percent, ends, age), id)| {
                    let kind = [GrantKind::Plan, GrantKind::Temporary, GrantKind::Gift][usize::from(kind)];
                    let mut grant = grant(id, kind, total, total * percent / 100, ends);
                    grant.created_at = Timestamp::from_second(age).unwrap();
                    grant
                })
                .collect()
        })
    }

    fn sum(parts: &[Allocation]) -> i64 {
        parts.iter().map(|part| part.amount.units()).sum()
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_no_grant_is_overdrawn(grants in any_grants(), charge in 0..10_000_i64) {
            let (parts, uncovered) = burn(&grants, amount(charge));
            prop_assert_eq!(sum(&parts) + uncovered.units(), charge);
            let mut after = grants.clone();
            apply(&mut after, &parts);
            for grant in &after {
                prop_assert!(grant.used <= grant.amount && grant.used >= Amount::ZERO);
            }
            let left: i64 = after.iter().map(|grant| grant.remaining().units()).sum();
            prop_assert!(uncovered == Amount::ZERO || left == 0, "owed while a grant has something left");
        }

        #[test]
        fn giving_back_a_whole_charge_restores_every_grant(grants in any_grants(), charge in 0..10_000_i64) {
            let (parts, uncovered) = burn(&grants, amount(charge));
            let mut after = grants.clone();
            apply(&mut after, &parts);
            let back = unburn(&after, uncovered, amount(charge));
            prop_assert_eq!(back.uncovered.units() - sum(&back.allocations) + back.rest.units(), charge);
            prop_assert_eq!(back.rest, Amount::ZERO);
            apply(&mut after, &back.allocations);
            // Grants spent before this charge lie before its parts in burn order, or are full: the same come back.
            let total = |grants: &[GrantBalance]| grants.iter().map(|grant| grant.used.units()).sum::<i64>();
            prop_assert_eq!(total(&after), total(&grants));
            prop_assert!(after.iter().all(|grant| grant.used >= Amount::ZERO));
        }

        #[test]
        fn charges_in_a_row_equal_their_sum(grants in any_grants(), first in 0..3_000_i64, second in 0..3_000_i64) {
            let mut apart = grants.clone();
            let (parts, owed) = burn(&apart, amount(first));
            apply(&mut apart, &parts);
            let (parts, more) = burn(&apart, amount(second));
            apply(&mut apart, &parts);
            let mut at_once = grants.clone();
            let (parts, both) = burn(&at_once, amount(first + second));
            apply(&mut at_once, &parts);
            prop_assert_eq!(apart, at_once);
            prop_assert_eq!(owed.units() + more.units(), both.units());
        }
    }
}
