//! Estimates: what is asked for, how little will do, and how long an answer a freeze pays.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use proptest::prelude::*;
use serde_json::json;
use tollgate_domain::estimate::{DEFAULT_FACTOR, Estimator, ModelOutput, SPOKEN_ANSWER, TEXT_ANSWER};
use tollgate_domain::price::{ChargeError, Multiplier, Prices, Tariff};
use tollgate_domain::usage::{Kind, Usage};
use tollgate_domain::{Amount, Unit};

fn tariff(prices: serde_json::Value) -> Tariff {
    Tariff { prices: serde_json::from_value(prices).unwrap(), ..Tariff::default() }
}

/// One credit per token, so that amounts read as tokens.
fn plain() -> Estimator {
    Estimator {
        tariff: tariff(json!({"input": "1000000", "output": "1000000"})),
        factor: Multiplier::ONE,
        model: ModelOutput { max_output_tokens: 32_000, freeze_output_tokens: 1_000, p90_output_tokens: None },
        prompt: Usage::of_tokens(100, 0),
        asked_max: None,
        choices: 1,
        answer_kinds: TEXT_ANSWER,
        lowerable: true,
        extendable: true,
    }
}

fn numbers(estimator: &Estimator) -> (i64, i64) {
    let estimate = estimator.estimate().unwrap();
    (estimate.want.units() / 100_000_000, estimate.need.units() / 100_000_000)
}

#[test]
fn a_stream_freezes_a_little_whatever_maximum_was_asked() {
    assert_eq!(numbers(&plain()), (1_100, 116));
    assert_eq!(numbers(&Estimator { asked_max: Some(32_000), ..plain() }), (1_100, 116));
    assert_eq!(numbers(&Estimator { asked_max: Some(200), ..plain() }), (300, 116));
    assert_eq!(numbers(&Estimator { asked_max: Some(5), ..plain() }), (105, 105));
    let mut known = plain();
    known.model.p90_output_tokens = Some(400);
    assert_eq!(numbers(&known), (500, 116));
    assert_eq!(
        numbers(&Estimator { asked_max: Some(32_000), ..known }),
        (1_100, 116),
        "what was asked for comes first"
    );
    known.model.p90_output_tokens = Some(3);
    assert_eq!(numbers(&known), (116, 116), "never less than is needed");
}

#[test]
fn an_answer_that_cant_be_extended_is_frozen_whole() {
    let whole = Estimator { extendable: false, ..plain() };
    assert_eq!(numbers(&whole), (32_100, 116));
    assert_eq!(numbers(&Estimator { asked_max: Some(500), ..whole }), (600, 116));
    assert_eq!(numbers(&Estimator { asked_max: Some(90_000), ..whole }), (32_100, 116));
    assert_eq!(numbers(&Estimator { lowerable: false, ..whole }), (32_100, 32_100), "nothing less can be asked for");
    // With 150 left, the maximum sent upstream is 50.
    assert_eq!(whole.max_tokens_affordable(Amount::parse("150", Unit::Credit).unwrap()), Ok(50));
    assert_eq!(whole.max_tokens_affordable(Amount::parse("99", Unit::Credit).unwrap()), Ok(0));
    assert_eq!(whole.max_tokens_affordable(Amount::MAX), Ok(32_000));
}

#[test]
fn choices_audio_and_reasoning_count() {
    assert_eq!(numbers(&Estimator { choices: 5, ..plain() }), (5_100, 180));
    let dear =
        tariff(json!({"input": "1000000", "output": "1000000", "reasoning": "2000000", "audio_output": "9000000"}));
    assert_eq!(numbers(&Estimator { tariff: dear, ..plain() }), (2_100, 132));
    assert_eq!(numbers(&Estimator { tariff: dear, answer_kinds: SPOKEN_ANSWER, ..plain() }), (9_100, 244));
}

#[test]
fn the_safety_factor_counts_once() {
    let careful = Estimator { factor: DEFAULT_FACTOR, ..plain() };
    assert_eq!(careful.estimate().unwrap().want.format(Unit::Credit), "1155.00000000");
    let tokens = Estimator { tariff: Tariff { unit: Unit::Token, ..Tariff::default() }, ..careful };
    assert_eq!(tokens.estimate().unwrap().want.units(), 1_155);
    assert_eq!(tokens.estimate().unwrap().need.units(), 122, "121.8 rounded up");
}

#[test]
fn a_fixed_price_is_wanted_and_needed_exactly() {
    let fixed = Estimator { tariff: tariff(json!({"per_request": "0.10"})), factor: DEFAULT_FACTOR, ..plain() };
    let estimate = fixed.estimate().unwrap();
    assert_eq!(estimate.want.format(Unit::Credit), "0.10000000");
    assert_eq!(estimate.need, estimate.want);
    assert_eq!(fixed.ceiling(), Ok(estimate.want));
    assert_eq!(fixed.max_tokens_affordable(estimate.want), Ok(32_000));
}

#[test]
fn embeddings_need_their_whole_prompt_and_no_price_for_output() {
    let model = ModelOutput { max_output_tokens: 0, freeze_output_tokens: 1_000, p90_output_tokens: None };
    let embedding = Estimator { model, tariff: tariff(json!({"input": "1000000"})), ..plain() };
    assert_eq!(numbers(&embedding), (100, 100));
    let chat = Estimator { tariff: embedding.tariff, ..plain() };
    assert_eq!(chat.estimate(), Err(ChargeError::NotPriced(Kind::Output)));
}

#[test]
fn a_long_prompt_is_frozen_in_full_and_more_than_everything_is_everything() {
    let long = Estimator { prompt: Usage::of_tokens(200_000, 0), ..plain() };
    assert_eq!(numbers(&long), (201_000, 200_016));
    let endless = Estimator { prompt: Usage::of_tokens(u64::MAX, 0), choices: u64::MAX, extendable: false, ..plain() };
    let estimate = endless.estimate().unwrap();
    assert_eq!((estimate.want, estimate.need), (Amount::MAX, Amount::MAX));
}

#[test]
fn a_token_rate_reserves_prompt_and_answers_with_the_factor() {
    let factor = Multiplier::parse("1.05").unwrap();
    let several = Estimator { choices: 3, factor, ..plain() };
    assert_eq!(several.tokens_of(101, 10), 138); // 131 x 1.05 = 137.55
    assert_eq!(several.max_tokens_reserved(101, 138), 10);
    assert_eq!(several.max_tokens_reserved(101, 50), 0);
    assert_eq!(several.tokens_of(u64::MAX, u64::MAX), 9_007_199_254_740_991);
}

prop_compose! {
    fn any_estimator()(
        input in 0..=100_000_u32, output in 0..=100_000_u32, per_request in proptest::option::of(0..=1_000_u32),
        (prompt, asked, choices) in (0..=300_000_u64, proptest::option::of(0..=100_000_u64), 0..=8_u64),
        (max_out, freeze, p90) in (0..=64_000_u64, 0..=4_000_u64, proptest::option::of(0..=70_000_u64)),
        (extendable, token, factor) in (any::<bool>(), any::<bool>(), 10_000..=20_000_u32),
    ) -> Estimator {
        let cents = |value: u32| format!("{}.{:02}", value / 100, value % 100);
        let prices: Prices = serde_json::from_value(json!({
            "input": cents(input), "output": cents(output), "per_request": per_request.map(cents),
        })).unwrap();
        Estimator {
            tariff: Tariff { unit: if token { Unit::Token } else { Unit::Credit }, prices, ..Tariff::default() },
            factor: Multiplier::parse(&format!("{}.{:04}", factor / 10_000, factor % 10_000)).unwrap(),
            model: ModelOutput { max_output_tokens: max_out, freeze_output_tokens: freeze, p90_output_tokens: p90 },
            prompt: Usage::of_tokens(prompt, 0),
            asked_max: asked,
            choices,
            answer_kinds: TEXT_ANSWER,
        lowerable: true,
            extendable,
        }
    }
}

proptest! {
    #[test]
    fn need_and_want_and_ceiling_are_in_order(estimator in any_estimator()) {
        let estimate = estimator.estimate().unwrap();
        prop_assert!(estimate.need <= estimate.want);
        prop_assert!(estimate.want <= estimator.ceiling().unwrap());
        prop_assert!(estimator.extendable || estimate.want == estimator.ceiling().unwrap());
        prop_assert!(estimate.output_tokens <= estimator.output_ceiling());
    }

    /// The affordable length is paid, and one token more is not, unless the answer can't be longer.
    #[test]
    fn the_affordable_length_is_exact(estimator in any_estimator(), units in 0..=2_000_000_000_i64) {
        let amount = Amount::new(units).unwrap();
        let tokens = estimator.max_tokens_affordable(amount).unwrap();
        prop_assert!(tokens <= estimator.output_ceiling());
        prop_assert!(tokens == 0 || estimator.cost_of(tokens).unwrap() <= amount);
        prop_assert!(tokens == estimator.output_ceiling() || estimator.cost_of(tokens + 1).unwrap() > amount);
    }

    /// A freeze of what is wanted pays the answer it was wanted for: nothing that stays within it is an overrun.
    #[test]
    fn what_is_wanted_pays_the_answer(estimator in any_estimator()) {
        let estimate = estimator.estimate().unwrap();
        prop_assert!(estimator.max_tokens_affordable(estimate.want).unwrap() >= estimate.output_tokens);
        let mut usage = estimator.prompt;
        usage.output = estimate.output_tokens * estimator.choices.max(1);
        prop_assert!(estimator.tariff.charge(&usage).unwrap() <= estimate.want);
    }
}
