//! Prices, multipliers and charges: exact decimals held as integers, rounded up once, at the end.
//!
//! A kind without a price takes its base kind's (`cached_input` that of `input`, `reasoning` that of `output`, ...). A
//! base kind that is used and has no price makes the model unpriced: free must be said, by a price of zero. The one
//! exception is a model that is priced per request or per image only: its tokens are not charged. An image costs nothing
//! beside a model's other prices unless it has one of its own: its tokens are charged.

mod charge;
mod decimal;

use serde::{Deserialize, Serialize};

pub use charge::{ChargeError, Tariff, charge, charge_tokens};
pub use decimal::{DecimalError, Multiplier, Price, Weight};

use crate::usage::Kind;

/// The prices of a model: credits per 1 000 000 tokens, for images and requests each. `None`: not set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Prices {
    /// Prompt tokens; the base of all prompt kinds.
    pub input: Option<Price>,
    /// Prompt tokens read from a cache.
    pub cached_input: Option<Price>,
    /// Prompt tokens written to a 5 minute cache.
    pub cache_write_5m: Option<Price>,
    /// Prompt tokens written to a 1 hour cache.
    pub cache_write_1h: Option<Price>,
    /// Answer tokens; the base of all answer kinds.
    pub output: Option<Price>,
    /// Reasoning tokens.
    pub reasoning: Option<Price>,
    /// Prompt tokens of audio.
    pub audio_input: Option<Price>,
    /// Answer tokens of audio.
    pub audio_output: Option<Price>,
    /// One image. Not set: nothing beside the other prices.
    pub image: Option<Price>,
    /// One request, on top of everything else. Not set: nothing.
    pub per_request: Option<Price>,
}

impl Prices {
    /// The price set for this very kind.
    #[must_use]
    pub const fn get(&self, kind: Kind) -> Option<Price> {
        match kind {
            Kind::Input => self.input,
            Kind::CachedInput => self.cached_input,
            Kind::CacheWrite5m => self.cache_write_5m,
            Kind::CacheWrite1h => self.cache_write_1h,
            Kind::Output => self.output,
            Kind::Reasoning => self.reasoning,
            Kind::AudioInput => self.audio_input,
            Kind::AudioOutput => self.audio_output,
            Kind::Image => self.image,
            Kind::Request => self.per_request,
        }
    }

    /// The price that a kind is charged at, by the rules above.
    ///
    /// # Errors
    /// [`ChargeError::NotPriced`] if neither the kind nor its base has a price.
    pub fn price_of(&self, kind: Kind) -> Result<Price, ChargeError> {
        let set = self.get(kind).or_else(|| self.get(kind.base()));
        match set {
            Some(price) => Ok(price),
            None if kind == Kind::Request => Ok(Price::ZERO),
            None if kind == Kind::Image && *self != Self::default() => Ok(Price::ZERO),
            None if kind.is_tokens() && self.is_fixed() => Ok(Price::ZERO),
            None => Err(ChargeError::NotPriced(kind.base())),
        }
    }

    /// True if the model is priced per request or per image only, so that a call's price is known beforehand.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        let has = |kind: &Kind| self.get(*kind).is_some();
        Kind::ALL.iter().filter(|kind| !kind.is_tokens()).any(has)
            && !Kind::ALL.iter().filter(|kind| kind.is_tokens()).any(has)
    }

    /// Tells before a call whether everything that the call may use is priced.
    ///
    /// # Errors
    /// [`ChargeError::NotPriced`] names the first of `kinds` without a price.
    pub fn require(&self, kinds: &[Kind]) -> Result<(), ChargeError> {
        kinds.iter().try_for_each(|kind| self.price_of(*kind).map(drop))
    }
}

/// How many of a token-metered tenant's tokens one token of each kind weighs. Not set: that of the base kind, else 1.
/// Images weigh only where a weight is set for them; requests never do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TokenWeights {
    /// Prompt tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Weight>,
    /// Prompt tokens read from a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<Weight>,
    /// Prompt tokens written to a 5 minute cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write_5m: Option<Weight>,
    /// Prompt tokens written to a 1 hour cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write_1h: Option<Weight>,
    /// Answer tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Weight>,
    /// Reasoning tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Weight>,
    /// Prompt tokens of audio.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audio_input: Option<Weight>,
    /// Answer tokens of audio.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audio_output: Option<Weight>,
    /// One image, in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<Weight>,
}

impl TokenWeights {
    /// The weight of a kind, by the rules above.
    #[must_use]
    pub fn weight_of(&self, kind: Kind) -> Weight {
        let set = |kind: Kind| match kind {
            Kind::Input => self.input,
            Kind::CachedInput => self.cached_input,
            Kind::CacheWrite5m => self.cache_write_5m,
            Kind::CacheWrite1h => self.cache_write_1h,
            Kind::Output => self.output,
            Kind::Reasoning => self.reasoning,
            Kind::AudioInput => self.audio_input,
            Kind::AudioOutput => self.audio_output,
            Kind::Image => self.image,
            Kind::Request => None,
        };
        let default = if kind.is_tokens() { Weight::ONE } else { Weight::ZERO };
        set(kind).or_else(|| set(kind.base())).unwrap_or(default)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_kind_without_a_price_takes_its_base_kinds() {
        let prices: Prices = serde_json::from_value(json!({"input": "1", "output": "2", "reasoning": "0"})).unwrap();
        let text = |kind| prices.price_of(kind).unwrap().to_string();
        for kind in [Kind::Input, Kind::CachedInput, Kind::CacheWrite5m, Kind::CacheWrite1h, Kind::AudioInput] {
            assert_eq!(text(kind), "1");
        }
        assert_eq!(text(Kind::AudioOutput), "2");
        assert_eq!(text(Kind::Reasoning), "0", "an explicit zero is a price");
        assert_eq!(text(Kind::Request), "0");
        assert_eq!(text(Kind::Image), "0", "its tokens are charged");
        assert_eq!(Prices::default().price_of(Kind::Image), Err(ChargeError::NotPriced(Kind::Image)));
    }

    #[test]
    fn a_base_kind_without_a_price_is_not_free() {
        let prices: Prices = serde_json::from_value(json!({"input": "1", "per_request": "0.1"})).unwrap();
        assert_eq!(prices.require(&[Kind::Input]), Ok(()));
        assert_eq!(prices.require(&[Kind::Input, Kind::Reasoning]), Err(ChargeError::NotPriced(Kind::Output)));
        assert_eq!(Prices::default().require(&[Kind::Input]), Err(ChargeError::NotPriced(Kind::Input)));
    }

    #[test]
    fn a_model_priced_per_request_only_charges_no_tokens() {
        let prices: Prices = serde_json::from_value(json!({"per_request": "0.1"})).unwrap();
        assert!(prices.is_fixed());
        assert_eq!(prices.require(&[Kind::Input, Kind::Output]), Ok(()));
        assert!(!Prices::default().is_fixed());
    }

    #[test]
    fn weights_default_to_one() {
        let weights: TokenWeights = serde_json::from_value(json!({"output": "3.5", "cached_input": 0})).unwrap();
        assert_eq!(weights.weight_of(Kind::Input), Weight::ONE);
        assert_eq!(weights.weight_of(Kind::CachedInput), Weight::ZERO);
        assert_eq!(weights.weight_of(Kind::Reasoning).to_string(), "3.5");
        assert_eq!(weights.weight_of(Kind::Image), Weight::ZERO);
        assert!(serde_json::from_value::<TokenWeights>(json!({"outputs": 3})).is_err());
    }
}
