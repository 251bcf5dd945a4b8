//! What the members of a shared pool are guaranteed: a set part of its total, by weight. The rest is first come.

use crate::amount::Amount;

/// The largest weight of a member.
pub const WEIGHT_MAX: u32 = 1_000_000;

/// What of `total` a member of `weight` is guaranteed, where `percent` of it is guaranteed to members whose weights sum to
/// `weights`. Rounded down, so that the guarantees never sum to more than that part. Zero where nobody has weight.
#[must_use]
pub fn guarantee(total: Amount, percent: u32, weight: u32, weights: u64) -> Amount {
    if weights == 0 || !total.is_positive() {
        return Amount::ZERO;
    }
    let part = i128::from(total.units()) * i128::from(percent.min(100)) * i128::from(weight);
    let units = part / (i128::from(weights) * 100);
    i64::try_from(units).ok().and_then(|units| Amount::new(units).ok()).unwrap_or(Amount::ZERO)
}

/// What of a guarantee is not used yet.
#[must_use]
pub fn unused(guaranteed: Amount, used: Amount) -> Amount {
    guaranteed.checked_sub(used).unwrap_or_default().max(Amount::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(units: i64) -> Amount {
        Amount::new(units).unwrap()
    }

    #[test]
    fn the_guaranteed_part_is_split_by_weight() {
        assert_eq!(guarantee(amount(1000), 50, 1, 4), amount(125));
        assert_eq!(guarantee(amount(1000), 50, 3, 4), amount(375));
        assert_eq!(guarantee(amount(1000), 0, 3, 4), amount(0));
        assert_eq!(guarantee(amount(1000), 100, 4, 4), amount(1000));
        assert_eq!(guarantee(amount(0), 50, 1, 1), amount(0));
        assert_eq!(guarantee(amount(10), 50, 1, 0), amount(0));
        assert_eq!(guarantee(Amount::MAX, 100, WEIGHT_MAX, u64::from(WEIGHT_MAX)), Amount::MAX);
    }

    #[test]
    fn more_than_the_guarantee_leaves_nothing_unused() {
        assert_eq!(unused(amount(10), amount(3)), amount(7));
        assert_eq!(unused(amount(10), amount(13)), amount(0));
    }

    proptest::proptest! {
        #[test]
        fn guarantees_never_sum_to_more_than_their_part(
            total in 0..=crate::amount::MAX_UNITS, percent in 0..=100u32,
            weights in proptest::collection::vec(1..=WEIGHT_MAX, 1..20),
        ) {
            let sum = weights.iter().map(|weight| u64::from(*weight)).sum();
            let all = weights.iter().map(|weight| i128::from(guarantee(amount(total), percent, *weight, sum).units()));
            proptest::prop_assert!(all.sum::<i128>() * 100 <= i128::from(total) * i128::from(percent));
        }
    }
}
