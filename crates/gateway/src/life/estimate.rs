//! What a request may cost, before it is sent.

use std::sync::Arc;

use domain::Amount;
use domain::estimate::{Estimator, ModelOutput};
use domain::price::{Multiplier, Tariff};
use domain::usage::{Kind, Usage};

use crate::catalog::{Model, Target};
use crate::dialect::Dialect;
use crate::dialect::asked::Asked;
use crate::dialect::field::BadField;
use crate::dialect::input::Input;
use crate::error::ApiError;
use crate::life::{Call, soft_budget, translation};
use crate::translate::Translated;

/// Bodies beyond this size are counted on a thread of their own, so that nobody else's stream waits.
const COUNT_INLINE_MAX: usize = 32 * 1024;

/// Everything decided about a request before its freeze.
#[derive(Debug)]
pub struct Plan {
    /// The model.
    pub model: Arc<Model>,
    /// The targets that can serve it, by priority.
    pub targets: Vec<Arc<Target>>,
    /// The request as targets take it that don't speak its dialect, where there are such.
    pub translated: Option<Translated>,
    /// Prices at the dearest of the targets, prompt, maximum, choices.
    pub estimator: Estimator,
    /// What the request brings along.
    pub input: Input,
    /// What is to be frozen.
    pub want: Amount,
    /// What must be frozen at least.
    pub need: Amount,
    /// Tokens to be reserved of token rates: those that `want` pays, whatever their price.
    pub tokens_want: u64,
    /// Tokens to be reserved at least.
    pub tokens_need: u64,
    /// The project's soft budget is reached: percent of the budget left at it.
    pub soft_left: Option<u32>,
    /// The model is not the one that was asked for, but a cheaper one.
    pub is_downgraded: bool,
}

impl Plan {
    fn new(model: Arc<Model>, targets: Vec<Arc<Target>>, estimator: Estimator, input: Input) -> Result<Self, ApiError> {
        let unpriced = |error| {
            tracing::warn!(model = model.name, %error, "a request for a model that is not fully priced was refused");
            ApiError::model_not_found(&model.name)
        };
        let estimate = estimator.estimate().map_err(unpriced)?;
        // A call that costs nothing is admitted like any other, and settled with nothing.
        let least = Amount::new(1).unwrap_or_default();
        Ok(Self {
            tokens_want: estimator.tokens_of(input.prompt_tokens(), estimate.output_tokens),
            tokens_need: estimator.tokens_of(input.prompt_tokens(), estimator.least_output()),
            soft_left: None,
            is_downgraded: false,
            targets,
            translated: None,
            estimator,
            input,
            want: estimate.want.max(least),
            need: estimate.need.max(least),
            model,
        })
    }

    /// Can the freeze grow while the answer is streamed?
    #[must_use]
    pub const fn is_extendable(&self) -> bool {
        self.estimator.extendable
    }

    /// What the prompt and `output` tokens of all choices together cost, with the safety factor, at the dearest target.
    #[must_use]
    pub fn cost_of(&self, output: u64) -> Amount {
        let together = Estimator { choices: 1, ..self.estimator };
        together.cost_of(output).unwrap_or(Amount::MAX)
    }

    /// Answer tokens of all choices together at most.
    #[must_use]
    pub fn ceiling(&self) -> u64 {
        self.estimator.output_ceiling().saturating_mul(self.estimator.choices.max(1))
    }

    /// The local count of an answer of so many tokens, as a usage. Of images `output` is their number.
    #[must_use]
    pub fn counted(&self, output: u64) -> Usage {
        let Input { text_tokens, audio_tokens, images, .. } = self.input;
        let mut usage = Usage { audio_input: audio_tokens, ..Usage::of_tokens(text_tokens, 0) };
        if images > 0 {
            // Where images are priced each, nothing is said of their tokens.
            let each = if self.estimator.tariff.is_fixed() { 0 } else { self.estimator.output_ceiling() };
            return Usage { images: output, output: output.saturating_mul(each), ..usage };
        }
        let answer = *self.estimator.answer_kinds.first().unwrap_or(&Kind::Output);
        usage.set(answer, output);
        usage
    }

    /// Is the local count as good as the provider's own? Images are counted one by one.
    #[must_use]
    pub fn counts_exactly(&self) -> bool {
        self.input.images > 0 && self.estimator.tariff.is_fixed()
    }

    /// The maximum to be sent upstream for each choice, where that is less than the one asked for: the model's own, and where
    /// nothing can be added later what `frozen` pays and `reserved` tokens cover.
    #[must_use]
    pub fn lowered_max(&self, frozen: Amount, reserved: u64) -> Option<u64> {
        if !self.estimator.lowerable {
            return None;
        }
        let own = self.model.max_output_tokens;
        let own = self.estimator.asked_max.filter(|asked| *asked > own && own > 0).map(|_| own);
        if self.estimator.extendable {
            return own;
        }
        let paid = (frozen < self.want).then(|| self.estimator.max_tokens_affordable(frozen).ok()).flatten();
        let covered = (reserved < self.tokens_want)
            .then(|| self.estimator.max_tokens_reserved(self.input.prompt_tokens(), reserved));
        [paid, covered, own].into_iter().flatten().min().map(|most| most.max(1))
    }
}

/// Plans a request, for a cheaper model where the project's soft budget says so.
///
/// # Errors
/// The model is not to be had for this key, or a field can't be used.
pub async fn plan(call: &Arc<Call>) -> Result<Plan, ApiError> {
    let asked = plan_for(call, &call.asked.model).await?;
    soft_budget::apply(call, asked).await
}

/// Plans a request for a model.
///
/// # Errors
/// The model is not to be had for this key, or a field can't be used.
pub async fn plan_for(call: &Arc<Call>, name: &str) -> Result<Plan, ApiError> {
    let snapshot = call.app.catalog.snapshot();
    let unknown = || ApiError::model_not_found(name);
    let model = snapshot
        .model(name)
        .filter(|model| model.is_offered(call.context.started_at) && call.caller.may_use(&model.name))
        .ok_or_else(unknown)?;
    if !call.dialect.serves(model) {
        return Err(ApiError::model_not_on_this_route(name));
    }
    let (translated, targets) = translation::targets(call, model).await?;
    let (prices, weights) = model.prices_at(call.context.started_at).ok_or_else(unknown)?;
    let dearest = targets.iter().map(|target| target.multiplier).max().ok_or_else(unknown)?;
    let tariff =
        Tariff { unit: call.caller.context.unit, prices, weights, tenant: call.caller.multiplier, target: dearest };
    tariff.require(call.dialect.kinds()).map_err(|error| {
        tracing::warn!(request_id = %call.context.id, model = model.name, %error, "a request for a model that is not fully priced was refused");
        unknown()
    })?;
    let input = count(call, model).await?;
    let factor = call.caller.safety_factor.unwrap_or(model.safety_factor);
    let estimator = estimator(model, tariff, factor, &input, (call.dialect, &call.asked));
    let plan = Plan::new(Arc::clone(model), targets, estimator, input)?;
    Ok(Plan { translated, ..plan })
}

fn estimator(
    model: &Model,
    tariff: Tariff,
    factor: Multiplier,
    input: &Input,
    (dialect, asked): (Dialect, &Asked),
) -> Estimator {
    let mut prompt = Usage { requests: 1, images: input.images, audio_input: input.audio_tokens, ..Usage::default() };
    let kind = tariff.dearest(dialect.prompt_kinds()).ok().flatten().unwrap_or(Kind::Input);
    prompt.set(kind, input.text_tokens);
    let lowerable = dialect.has_maximum();
    // Without a maximum the answer is as long as the request's bound, or there is none.
    let longest = match (lowerable, input.answer_tokens, model.max_output_tokens) {
        (true, _, most) => most,
        (false, None, _) => 0,
        (false, Some(bound), 0) => bound,
        (false, Some(bound), most) => bound.min(most),
    };
    Estimator {
        tariff,
        factor,
        model: ModelOutput {
            max_output_tokens: longest,
            freeze_output_tokens: model.freeze_output_tokens,
            p90_output_tokens: model.p90_output_tokens,
        },
        prompt,
        asked_max: asked.max_tokens,
        choices: asked.n,
        answer_kinds: dialect.answer_kinds(input.is_spoken),
        lowerable,
        extendable: lowerable && asked.stream && !model.hidden_reasoning && !tariff.is_fixed(),
    }
}

/// Counts the input.
///
/// # Errors
/// A field can't be used.
pub async fn count(call: &Call, model: &Arc<Model>) -> Result<Input, ApiError> {
    let dialect = call.dialect;
    let count = move |body: &[u8], model: &Model| dialect.input(body, &model.tokenizer, model.context_window);
    with_body(call, model, count).await
}

/// Works on a call's body.
///
/// # Errors
/// A field can't be used.
pub async fn with_body<T: Send + 'static>(
    call: &Call,
    model: &Arc<Model>,
    work: impl FnOnce(&[u8], &Model) -> Result<T, BadField> + Send + 'static,
) -> Result<T, ApiError> {
    if call.body.len() <= COUNT_INLINE_MAX {
        return Ok(work(&call.body, model)?);
    }
    let (body, model) = (call.body.clone(), Arc::clone(model));
    let done = tokio::task::spawn_blocking(move || work(&body, &model)).await;
    Ok(done.map_err(|error| {
        tracing::error!(request_id = %call.context.id, %error, "the request could not be read");
        ApiError::internal()
    })??)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::Tokenizer;
    use domain::price::Prices;
    use domain::{ModelId, Unit};
    use serde_json::json;

    fn planned(prices: serde_json::Value, stream: bool, max_tokens: Option<u64>, n: u64) -> Plan {
        let model = Model {
            id: ModelId::from_uuid(uuid::Uuid::nil()),
            name: "m".to_owned(),
            mode: "chat".to_owned(),
            tokenizer: Arc::new(Tokenizer::Bytes),
            context_window: 128_000,
            max_output_tokens: 4_000,
            freeze_output_tokens: 1_000,
            p90_output_tokens: Some(700),
            hidden_reasoning: false,
            safety_factor: Multiplier::ONE,
            created: 0,
            prices: Vec::new(),
            targets: Vec::new(),
        };
        let prices: Prices = serde_json::from_value(prices).unwrap();
        let tariff = Tariff {
            unit: Unit::Credit,
            prices,
            tenant: Multiplier::ONE,
            target: Multiplier::ONE,
            ..Tariff::default()
        };
        let body = json!({"model": "m", "stream": stream, "max_tokens": max_tokens, "n": n}).to_string();
        let asked = crate::dialect::field::object(body.as_bytes()).and_then(|body| Dialect::Chat.read(&body)).unwrap();
        let input = Input { text_tokens: 100, ..Input::default() };
        let estimator = estimator(&model, tariff, Multiplier::ONE, &input, (Dialect::Chat, &asked));
        Plan::new(Arc::new(model), Vec::new(), estimator, input).unwrap()
    }

    /// One unit a token.
    fn by_token() -> serde_json::Value {
        json!({"input": "0.01", "output": "0.01"})
    }

    #[test]
    fn want_and_need_follow_what_can_be_added_later() {
        let units = |plan: &Plan| (plan.want.units(), plan.need.units());
        assert_eq!(units(&planned(by_token(), false, None, 1)), (4_100, 116));
        assert_eq!(units(&planned(by_token(), false, Some(50), 1)), (150, 116));
        assert_eq!(units(&planned(by_token(), false, Some(5), 1)), (105, 105));
        assert_eq!(units(&planned(by_token(), false, Some(1_000_000), 1)), (4_100, 116));
        assert_eq!(units(&planned(by_token(), true, None, 1)), (800, 116), "what 90 % of its answers stay below");
        assert_eq!(units(&planned(by_token(), true, Some(1_000_000), 1)), (1_100, 116));
        assert_eq!(units(&planned(by_token(), true, Some(50), 1)), (150, 116));
        assert_eq!(units(&planned(by_token(), false, Some(50), 4)), (300, 164));
        assert_eq!(units(&planned(by_token(), false, None, 100)), (400_100, 1_700));
        let fixed = json!({"per_request": "0.1"});
        assert_eq!(units(&planned(fixed.clone(), false, None, 1)), (10_000_000, 10_000_000));
        assert_eq!(units(&planned(fixed, true, None, 1)), (10_000_000, 10_000_000));
        assert_eq!(units(&planned(json!({"input": "0", "output": "0"}), false, None, 1)), (1, 1));
    }

    #[test]
    fn the_maximum_is_lowered_to_what_the_freeze_pays() {
        let lowered = |plan: &Plan, units| plan.lowered_max(Amount::new(units).unwrap(), plan.tokens_want);
        let plan = planned(by_token(), false, None, 1);
        assert_eq!(lowered(&plan, 4_100), None);
        assert_eq!(lowered(&plan, 4_099), Some(3_999));
        assert_eq!(lowered(&plan, 116), Some(16));
        let several = planned(by_token(), false, None, 4);
        assert_eq!(lowered(&several, 16_099), Some(3_999));
        assert_eq!(lowered(&several, 164), Some(16));
        assert_eq!(lowered(&planned(by_token(), true, None, 1), 116), None);
        for stream in [false, true] {
            assert_eq!(lowered(&planned(by_token(), stream, Some(4_000), 1), 4_100), None);
            assert_eq!(lowered(&planned(by_token(), stream, Some(4_001), 1), 4_100), Some(4_000), "the model's own");
        }
        let reserved = |plan: &Plan, tokens| plan.lowered_max(plan.want, tokens);
        assert_eq!((plan.tokens_want, plan.tokens_need), (4_100, 116));
        assert_eq!((reserved(&plan, 4_100), reserved(&plan, 600)), (None, Some(500)));
        assert_eq!(plan.lowered_max(Amount::new(300).unwrap(), 600), Some(200));
        assert_eq!((reserved(&several, 900), reserved(&several, 164)), (Some(200), Some(16)));
    }
}
