//! The guard of a stream: before the count passes what is frozen, more is frozen, or the stream ends.

use std::time::{Duration, Instant};

use domain::{Amount, LimitName};
use quota::{Extension, Freeze};

use crate::dialect::watch::{Stopped, Words};
use crate::life::estimate::Plan;

/// Pause between two questions to a ledger that does not answer.
const ASK_AGAIN: Duration = Duration::from_millis(500);
/// A recovery window is waited out; beyond it the stream does not wait for the ledger.
const EXTEND_WITHIN: Duration = Duration::from_secs(4);
/// More tokens than any stream has.
const TOKENS_MAX: u64 = 1 << 40;

/// Watches one stream's count.
#[derive(Debug)]
pub struct Guard {
    /// Answer tokens of all choices that the freeze pays.
    paid: u64,
    /// Where a model counts as running away.
    ceiling: u64,
    silent_until: Option<Instant>,
}

impl Guard {
    /// A guard for what was frozen.
    #[must_use]
    pub fn new(plan: &Plan, frozen: Amount) -> Self {
        // The local count and the provider's differ by a little, and by much where only bytes are counted.
        let ceiling = match plan.model.tokenizer.is_rough() {
            // What is no text is bounded beforehand, and its pieces are counted by their bytes.
            _ if !plan.estimator.lowerable => u64::MAX,
            false => plan.ceiling().saturating_add(plan.ceiling() / 16).saturating_add(8),
            true => plan.ceiling().saturating_mul(16),
        };
        Self { paid: paid_tokens(plan, frozen), ceiling, silent_until: None }
    }

    /// May a piece of `bytes` bytes pass without a closer look, whatever it says?
    #[must_use]
    pub fn is_far(&self, words: &Words, bytes: usize) -> bool {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        words.upper_bound().saturating_add(bytes) <= self.paid.min(self.ceiling)
    }

    /// May the pieces behind these words pass? Freezes more where needed.
    ///
    /// # Errors
    /// They may not: the stream is to be ended.
    pub async fn allow(&mut self, plan: &Plan, freeze: &Freeze, words: &mut Words) -> Result<(), Stopped> {
        let tokens = words.exact();
        // An event too large to count can't be told from a runaway model by its bytes: the upstream's report decides.
        if tokens > self.ceiling && !words.has_parts() {
            return Err(Stopped::Ceiling);
        }
        if tokens <= self.paid || !plan.is_extendable() {
            return Ok(()); // what can't be extended was frozen whole, and the upstream was given its maximum
        }
        if self.silent_until.is_some_and(|until| Instant::now() < until) {
            return Ok(());
        }
        let step = plan.model.freeze_output_tokens.max(16).saturating_mul(plan.estimator.choices.max(1));
        let goal = tokens.saturating_add(tokens.max(step)).min(self.ceiling.max(tokens));
        let extended =
            tokio::time::timeout(EXTEND_WITHIN, freeze.extend(plan.cost_of(goal), plan.cost_of(tokens))).await;
        match extended {
            Ok(Extension::Granted(frozen)) => self.granted(plan, frozen),
            Ok(Extension::Refused(refusal)) if refusal.limit == LimitName::MaxPerRequest.as_str() => {
                metrics::counter!("tollgate_gateway_extensions_total", "outcome" => "ceiling").increment(1);
                return Err(Stopped::Ceiling);
            }
            Ok(Extension::Refused(_) | Extension::Inactive | Extension::Away) => {
                metrics::counter!("tollgate_gateway_extensions_total", "outcome" => "refused").increment(1);
                return Err(Stopped::Quota);
            }
            Ok(Extension::Unavailable) | Err(_) => self.unavailable(),
        }
        Ok(())
    }

    fn granted(&mut self, plan: &Plan, frozen: Amount) {
        self.paid = paid_tokens(plan, frozen);
        metrics::counter!("tollgate_gateway_extensions_total", "outcome" => "granted").increment(1);
    }

    /// Running streams go on while nobody can decide; what they cost is booked in full.
    fn unavailable(&mut self) {
        self.silent_until = Some(Instant::now() + ASK_AGAIN);
        metrics::counter!("tollgate_gateway_extensions_total", "outcome" => "unavailable").increment(1);
    }
}

/// The most answer tokens whose estimate `frozen` covers.
fn paid_tokens(plan: &Plan, frozen: Amount) -> u64 {
    if plan.cost_of(TOKENS_MAX) <= frozen {
        return TOKENS_MAX; // answers cost nothing
    }
    let (mut paid, mut unpaid) = (0, TOKENS_MAX);
    while unpaid - paid > 1 {
        let middle = paid + (unpaid - paid) / 2;
        if plan.cost_of(middle) <= frozen { paid = middle } else { unpaid = middle }
    }
    paid
}
