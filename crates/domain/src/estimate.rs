//! What a request is likely to cost, before its price is known: how much to ask for, and how little will do.
//!
//! Where the stream's guard can extend the freeze, a small one is enough and nobody is refused for a large maximum. Where
//! it can't (no stream, hidden reasoning), the whole answer is frozen, or the maximum lowered to what the freeze pays.

use crate::amount::{Amount, MAX_UNITS};
use crate::price::{ChargeError, Multiplier, Tariff};
use crate::usage::{Kind, Usage};

/// The least answer for which a request is admitted, in tokens per choice.
pub const MIN_OUTPUT_TOKENS: u64 = 16;
/// The safety factor where neither model nor key names one.
pub const DEFAULT_FACTOR: Multiplier = Multiplier::from_steps(10_500);

/// The kinds of an answer in text.
pub const TEXT_ANSWER: &[Kind] = &[Kind::Output, Kind::Reasoning];
/// The kinds of an answer that may hold speech beside text.
pub const SPOKEN_ANSWER: &[Kind] = &[Kind::Output, Kind::Reasoning, Kind::AudioOutput];

/// What is known of a model's answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelOutput {
    /// The most tokens it can give in one answer; 0 for models that give none (embeddings, rerank).
    pub max_output_tokens: u64,
    /// Tokens frozen at first where the guard can extend.
    pub freeze_output_tokens: u64,
    /// The length that 90 % of its answers stay below, once there are enough of them.
    pub p90_output_tokens: Option<u64>,
}

/// One request to be estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimator {
    /// Prices and multipliers, those of the dearest eligible target.
    pub tariff: Tariff,
    /// Safety factor on tokens.
    pub factor: Multiplier,
    /// The model.
    pub model: ModelOutput,
    /// What is counted beforehand: prompt tokens by the dearest kind they may turn out to be (one with cache control is
    /// `cache_write_1h`), images asked for, and 1 request.
    pub prompt: Usage,
    /// The maximum that the caller asked for, per choice.
    pub asked_max: Option<u64>,
    /// Answers asked for (`n`, `best_of`); 0 counts as 1.
    pub choices: u64,
    /// The kinds that the answer's tokens may turn out to be; the dearest is frozen.
    pub answer_kinds: &'static [Kind],
    /// Whether a lower maximum can be sent upstream. Where it can't, nothing less than the longest answer will do.
    pub lowerable: bool,
    /// Whether the freeze can grow while the answer comes: streamed, and no hidden reasoning.
    pub extendable: bool,
}

/// What to freeze.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// What to ask for.
    pub want: Amount,
    /// Below this the request is refused. Never above `want`.
    pub need: Amount,
    /// The answer that `want` pays, in tokens per choice.
    pub output_tokens: u64,
}

impl Estimator {
    /// The longest answer that can come, in tokens per choice: the caller's maximum or the model's, whichever is less.
    #[must_use]
    pub fn output_ceiling(&self) -> u64 {
        self.asked_max.unwrap_or(u64::MAX).min(self.model.max_output_tokens)
    }

    /// The answer without which the request is not admitted, in tokens per choice.
    #[must_use]
    pub fn least_output(&self) -> u64 {
        let ceiling = self.output_ceiling();
        if self.lowerable { MIN_OUTPUT_TOKENS.min(ceiling) } else { ceiling }
    }

    /// What to freeze. A price that is known beforehand is wanted and needed exactly. Amounts beyond the largest one are
    /// held at it: nobody has as much, so the request is refused by its quota.
    ///
    /// # Errors
    /// [`ChargeError::NotPriced`].
    pub fn estimate(&self) -> Result<Estimate, ChargeError> {
        let ceiling = self.output_ceiling();
        let least = self.least_output();
        let likely = match (self.extendable, self.asked_max) {
            (false, _) => ceiling,
            (true, Some(_)) => self.model.freeze_output_tokens,
            (true, None) => self.model.p90_output_tokens.unwrap_or(self.model.freeze_output_tokens),
        };
        let output_tokens = likely.min(ceiling).max(least);
        Ok(Estimate { want: self.cost_of(output_tokens)?, need: self.cost_of(least)?, output_tokens })
    }

    /// The most that the request can cost: where extending ends, unless a `max_per_request` ends it earlier.
    ///
    /// # Errors
    /// [`ChargeError::NotPriced`].
    pub fn ceiling(&self) -> Result<Amount, ChargeError> {
        self.cost_of(self.output_ceiling())
    }

    /// What the prompt and answers of this length (per choice) cost, safety factor included, held at the largest amount.
    ///
    /// # Errors
    /// [`ChargeError::NotPriced`].
    pub fn cost_of(&self, output_tokens: u64) -> Result<Amount, ChargeError> {
        let mut usage = self.prompt;
        let tokens = output_tokens.saturating_mul(self.choices.max(1));
        if tokens > 0 {
            let kind = self.output_kind()?;
            usage.set(kind, usage.get(kind).saturating_add(tokens));
        }
        match self.tariff.estimate(&usage, self.factor) {
            Err(ChargeError::OutOfRange) => Ok(Amount::MAX),
            outcome => outcome,
        }
    }

    /// Tokens of `prompt_tokens` and answers of this length (per choice), safety factor included, rounded up: what a token
    /// rate reserves. Held at the largest amount.
    #[must_use]
    pub fn tokens_of(&self, prompt_tokens: u64, output_tokens: u64) -> u64 {
        let tokens = output_tokens.saturating_mul(self.choices.max(1)).saturating_add(prompt_tokens);
        let steps = u128::from(tokens) * u128::from(self.factor.steps());
        let rounded = steps.div_ceil(u128::from(Multiplier::ONE.steps()));
        u64::try_from(rounded).unwrap_or(u64::MAX).min(MAX_UNITS.unsigned_abs())
    }

    /// How many answer tokens (per choice) a reservation of `tokens` covers after the prompt, safety factor included: never
    /// more than [`Self::output_ceiling`].
    #[must_use]
    pub fn max_tokens_reserved(&self, prompt_tokens: u64, tokens: u64) -> u64 {
        let steps = u128::from(tokens) * u128::from(Multiplier::ONE.steps());
        let covered = steps / u128::from(self.factor.steps().max(1));
        let covered = u64::try_from(covered).unwrap_or(u64::MAX);
        (covered.saturating_sub(prompt_tokens) / self.choices.max(1)).min(self.output_ceiling())
    }

    /// How many answer tokens (per choice) a freeze of `amount` pays after the prompt, safety factor included: never more
    /// than [`Self::output_ceiling`], and 0 where it does not even pay the prompt.
    ///
    /// # Errors
    /// [`ChargeError::NotPriced`].
    pub fn max_tokens_affordable(&self, amount: Amount) -> Result<u64, ChargeError> {
        let (mut paid, mut unpaid) = (0, self.output_ceiling().saturating_add(1));
        // The cost never falls with the length, so halving finds the last length that is paid.
        while unpaid - paid > 1 {
            let middle = paid + (unpaid - paid) / 2;
            if self.cost_of(middle)? <= amount { paid = middle } else { unpaid = middle }
        }
        Ok(paid)
    }

    /// The dearest kind that an answer's tokens may turn out to be.
    fn output_kind(&self) -> Result<Kind, ChargeError> {
        Ok(self.tariff.dearest(self.answer_kinds)?.unwrap_or(Kind::Output))
    }
}
