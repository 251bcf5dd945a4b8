//! What a usage costs. Summed in whole steps, multiplied, and rounded up once.

use crate::amount::{Amount, Unit};
use crate::usage::{Kind, Usage};

use super::{Multiplier, Price, Prices, TokenWeights, Weight};

/// Prices stand per this many tokens.
const TOKENS_PER_PRICE: i128 = 1_000_000;
const MULTIPLIER_ONE: i128 = 10_i128.pow(4);
const WEIGHT_ONE: i128 = 10_i128.pow(8);

// The sum of a price list is in price steps x tokens; one price step is one unit of an amount.
const _: () = assert!(Price::PLACES == 8 && Multiplier::PLACES == 4 && Weight::PLACES == 8);

/// Why there is no charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ChargeError {
    /// The model has no price for a base kind that is used. A price of zero must be set explicitly.
    #[error("the model has no price for {0}; set one (\"0\" if it is free)")]
    NotPriced(Kind),
    /// Beyond the largest amount.
    #[error("the charge is beyond 2^53 - 1 units (90071992.54740991 credits)")]
    OutOfRange,
}

/// What a usage costs a tenant metered in credits: counts x prices x both multipliers, rounded up once.
///
/// # Errors
/// [`ChargeError`].
pub fn charge(usage: &Usage, prices: &Prices, tenant: Multiplier, target: Multiplier) -> Result<Amount, ChargeError> {
    credits(usage, prices, [tenant, target, Multiplier::ONE])
}

/// What a usage costs a tenant metered in tokens: counts x weights, rounded up once. Multipliers play no part.
///
/// # Errors
/// [`ChargeError::OutOfRange`].
pub fn charge_tokens(usage: &Usage, weights: &TokenWeights) -> Result<Amount, ChargeError> {
    weighted(usage, weights, Multiplier::ONE)
}

/// Everything that turns a usage into an amount for one tenant at one target, fixed when the request is frozen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tariff {
    /// What the tenant is metered in.
    pub unit: Unit,
    /// The model's prices in force at the freeze.
    pub prices: Prices,
    /// The model's weights, for tenants metered in tokens.
    pub weights: TokenWeights,
    /// The tenant's multiplier.
    pub tenant: Multiplier,
    /// The target's multiplier: the dearest eligible one's for a freeze, the serving one's for a settle.
    pub target: Multiplier,
}

impl Tariff {
    /// What a usage costs.
    ///
    /// # Errors
    /// [`ChargeError`].
    pub fn charge(&self, usage: &Usage) -> Result<Amount, ChargeError> {
        self.estimate(usage, Multiplier::ONE)
    }

    /// What a usage costs with a safety factor on its tokens; images and requests are counted exactly beforehand, so
    /// the factor leaves them alone.
    ///
    /// # Errors
    /// [`ChargeError`].
    pub fn estimate(&self, usage: &Usage, factor: Multiplier) -> Result<Amount, ChargeError> {
        match self.unit {
            Unit::Credit => credits(usage, &self.prices, [self.tenant, self.target, factor]),
            Unit::Token => weighted(usage, &self.weights, factor),
        }
    }

    /// True if a call's price is known beforehand, whatever its tokens turn out to be.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        self.unit == Unit::Credit && self.prices.is_fixed()
    }

    /// Tells before a call whether everything that the call may use is priced.
    ///
    /// # Errors
    /// [`ChargeError::NotPriced`] names the first of `kinds` without a price. Token-metered tenants need no price.
    pub fn require(&self, kinds: &[Kind]) -> Result<(), ChargeError> {
        match self.unit {
            Unit::Credit => self.prices.require(kinds),
            Unit::Token => Ok(()),
        }
    }

    /// The dearest of `kinds`, for estimates that can't know which of them it will be; the first of equals.
    ///
    /// # Errors
    /// [`ChargeError::NotPriced`] if one of them has no price.
    pub fn dearest(&self, kinds: &[Kind]) -> Result<Option<Kind>, ChargeError> {
        let mut best: Option<(u64, Kind)> = None;
        for kind in kinds {
            let steps = match self.unit {
                Unit::Credit => self.prices.price_of(*kind)?.steps(),
                Unit::Token => self.weights.weight_of(*kind).steps(),
            };
            if best.is_none_or(|(most, _)| steps > most) {
                best = Some((steps, *kind));
            }
        }
        Ok(best.map(|(_, kind)| kind))
    }
}

/// The last multiplier is the safety factor: it counts for tokens only.
fn credits(usage: &Usage, prices: &Prices, [tenant, target, factor]: [Multiplier; 3]) -> Result<Amount, ChargeError> {
    let mut sum: i128 = 0;
    for kind in used(usage) {
        let price = i128::from(prices.price_of(kind)?.steps());
        let per_count = if kind.is_tokens() {
            price * i128::from(factor.steps())
        } else {
            price * TOKENS_PER_PRICE * MULTIPLIER_ONE
        };
        sum = add(sum, i128::from(usage.get(kind)), per_count)?;
    }
    let by_tenant = sum.checked_mul(i128::from(tenant.steps())).ok_or(ChargeError::OutOfRange)?;
    let product = by_tenant.checked_mul(i128::from(target.steps())).ok_or(ChargeError::OutOfRange)?;
    round_up(product, TOKENS_PER_PRICE * MULTIPLIER_ONE.pow(3))
}

fn weighted(usage: &Usage, weights: &TokenWeights, factor: Multiplier) -> Result<Amount, ChargeError> {
    let mut sum: i128 = 0;
    for kind in used(usage) {
        let factor = if kind.is_tokens() { i128::from(factor.steps()) } else { MULTIPLIER_ONE };
        sum = add(sum, i128::from(usage.get(kind)), i128::from(weights.weight_of(kind).steps()) * factor)?;
    }
    round_up(sum, WEIGHT_ONE * MULTIPLIER_ONE)
}

fn used(usage: &Usage) -> impl Iterator<Item = Kind> {
    Kind::ALL.into_iter().filter(|kind| usage.get(*kind) > 0)
}

/// An overflow here means a charge far beyond the largest amount: that bound, times the divisor, is below 2^127.
fn add(sum: i128, count: i128, per_count: i128) -> Result<i128, ChargeError> {
    count.checked_mul(per_count).and_then(|cost| sum.checked_add(cost)).ok_or(ChargeError::OutOfRange)
}

fn round_up(product: i128, divisor: i128) -> Result<Amount, ChargeError> {
    let units = product / divisor + i128::from(product % divisor > 0);
    let units = i64::try_from(units).map_err(|_| ChargeError::OutOfRange)?;
    Amount::new(units).map_err(|_| ChargeError::OutOfRange)
}
