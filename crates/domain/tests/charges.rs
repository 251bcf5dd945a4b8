//! Usage and charges: the published vectors to the unit, and the laws that hold for every usage and price list.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::Value;
use tollgate_domain::price::{ChargeError, Multiplier, Price, Prices, Tariff, TokenWeights, charge, charge_tokens};
use tollgate_domain::usage::{self, AnthropicStream, Kind, Usage};
use tollgate_domain::{Amount, Unit};

#[derive(serde::Deserialize)]
struct Vectors {
    prices: BTreeMap<String, Prices>,
    vectors: Vec<Vector>,
}

#[derive(serde::Deserialize)]
struct Vector {
    name: String,
    dialect: String,
    prices: String,
    usage: Value,
    charge: String,
}

#[test]
fn the_vectors_are_charged_to_the_unit() {
    let file: Vectors = serde_json::from_str(include_str!("fixtures/usage-vectors.json")).unwrap();
    assert_eq!(file.vectors.len(), 12);
    for vector in file.vectors {
        let usage = match vector.dialect.as_str() {
            "openai" => usage::from_openai(&vector.usage),
            "openai-responses" => usage::from_responses(&vector.usage),
            "anthropic" => usage::from_anthropic(&vector.usage),
            other => unreachable!("dialect {other}"),
        };
        let usage = usage.unwrap();
        let amount = charge(&usage, &file.prices[&vector.prices], Multiplier::ONE, Multiplier::ONE).unwrap();
        assert_eq!(amount.format(Unit::Credit), vector.charge, "{}", vector.name);
    }
}

#[test]
fn a_million_small_charges_stay_exact() {
    let prices: Prices = serde_json::from_str(r#"{"input": "0.1"}"#).unwrap();
    let one = charge(&Usage::of_tokens(1, 0), &prices, Multiplier::ONE, Multiplier::ONE).unwrap();
    let sum = (0..1_000_000).try_fold(Amount::ZERO, |sum, _| sum.checked_add(one)).unwrap();
    assert_eq!(sum.format(Unit::Credit), "0.10000000");
}

#[test]
fn a_fixed_price_is_charged_exactly_and_without_a_safety_factor() {
    let prices: Prices = serde_json::from_str(r#"{"per_request": "0.10"}"#).unwrap();
    let tariff = Tariff { prices, ..Tariff::default() };
    let usage = Usage::of_tokens(500, 20);
    assert_eq!(tariff.charge(&usage).unwrap().format(Unit::Credit), "0.10000000");
    assert_eq!(tariff.estimate(&usage, Multiplier::parse("1.05").unwrap()), tariff.charge(&usage));
    let images: Prices = serde_json::from_str(r#"{"image": "0.04"}"#).unwrap();
    let usage = Usage { images: 3, ..Usage::of_tokens(9, 0) };
    let amount = charge(&usage, &images, Multiplier::parse("1.5").unwrap(), Multiplier::parse("2").unwrap()).unwrap();
    assert_eq!(amount.format(Unit::Credit), "0.36000000");
}

#[test]
fn tokens_are_weighted_and_rounded_up_once() {
    let weights: TokenWeights = serde_json::from_str(r#"{"cached_input": "0.1", "output": "0.55"}"#).unwrap();
    let usage = Usage { cached_input: 11, ..Usage::of_tokens(5, 10) };
    // 1.1 + 5 + 5.5 = 11.6
    assert_eq!(charge_tokens(&usage, &weights).unwrap().units(), 12);
    assert_eq!(charge_tokens(&usage, &TokenWeights::default()).unwrap().units(), 26);
}

#[test]
fn unpriced_kinds_and_huge_charges_are_refused() {
    let prices: Prices = serde_json::from_str(r#"{"input": "90000000"}"#).unwrap();
    let one = Multiplier::ONE;
    assert_eq!(charge(&Usage::of_tokens(1, 1), &prices, one, one), Err(ChargeError::NotPriced(Kind::Output)));
    assert_eq!(
        charge(&Usage::of_tokens(1_000_000, 0), &prices, one, one).unwrap().format(Unit::Credit),
        "90000000.00000000"
    );
    assert_eq!(charge(&Usage::of_tokens(1_001_000, 0), &prices, one, one), Err(ChargeError::OutOfRange));
    let most = Multiplier::parse("10000000").unwrap();
    assert_eq!(charge(&Usage::of_tokens(u64::MAX, 0), &prices, most, most), Err(ChargeError::OutOfRange));
    assert_eq!(
        charge_tokens(&Usage::of_tokens(u64::MAX, u64::MAX), &TokenWeights::default()),
        Err(ChargeError::OutOfRange)
    );
}

fn any_price() -> impl Strategy<Value = Price> {
    (0..=100_000_000_000_u64)
        .prop_map(|steps| Price::parse(&format!("{}.{:08}", steps / 100_000_000, steps % 100_000_000)).unwrap())
}

fn any_multiplier() -> impl Strategy<Value = Multiplier> {
    (0..=50_000_u64).prop_map(|steps| Multiplier::parse(&format!("{}.{:04}", steps / 10_000, steps % 10_000)).unwrap())
}

prop_compose! {
    fn any_prices()(
        input in any_price(), output in any_price(), image in any_price(),
        others in proptest::collection::vec(proptest::option::of(any_price()), 7),
    ) -> Prices {
        Prices {
            input: Some(input), output: Some(output), image: Some(image),
            cached_input: others[0], cache_write_5m: others[1], cache_write_1h: others[2], reasoning: others[3],
            audio_input: others[4], audio_output: others[5], per_request: others[6],
        }
    }
}

prop_compose! {
    fn any_usage()(counts in proptest::collection::vec(0..=2_000_000_u64, 8), images in 0..=10_u64, requests in 0..=1_u64) -> Usage {
        let mut usage = Usage { images, requests, ..Usage::default() };
        for (kind, count) in Kind::ALL.into_iter().filter(|kind| kind.is_tokens()).zip(counts) {
            usage.set(kind, count);
        }
        usage
    }
}

fn sum_of(a: &Usage, b: &Usage) -> Usage {
    let mut sum = Usage::default();
    for kind in Kind::ALL {
        sum.set(kind, a.get(kind) + b.get(kind));
    }
    sum
}

fn any_json() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (0..=100_u64).prop_map(Value::from),
        Just(Value::Null),
        "\\PC{0,4}".prop_map(Value::from),
    ];
    let name = prop_oneof![
        Just("prompt_tokens"),
        Just("completion_tokens"),
        Just("total_tokens"),
        Just("input_tokens"),
        Just("output_tokens"),
        Just("prompt_tokens_details"),
        Just("completion_tokens_details"),
        Just("input_tokens_details"),
        Just("cached_tokens"),
        Just("reasoning_tokens"),
        Just("audio_tokens"),
        Just("cache_creation"),
        Just("cache_creation_input_tokens"),
        Just("ephemeral_1h_input_tokens"),
        Just("cache_read_input_tokens"),
        Just("usage"),
        Just("meta"),
        Just("tokens"),
        Just("message"),
        Just("prompt_cache_hit_tokens"),
    ];
    number.prop_recursive(3, 40, 8, move |inner| {
        proptest::collection::btree_map(name.clone().prop_map(str::to_owned), inner, 0..8)
            .prop_map(|fields| Value::Object(fields.into_iter().collect()))
    })
}

proptest! {
    #[test]
    fn a_charge_is_never_negative_and_grows_with_each_count(
        usage in any_usage(), prices in any_prices(), tenant in any_multiplier(), target in any_multiplier(), more in 0..=1_000_u64,
    ) {
        let less = charge(&usage, &prices, tenant, target).unwrap();
        prop_assert!(less >= Amount::ZERO);
        for kind in Kind::ALL {
            let mut larger = usage;
            larger.set(kind, usage.get(kind) + more);
            prop_assert!(charge(&larger, &prices, tenant, target).unwrap() >= less, "{}", kind);
        }
    }

    /// Charging in parts costs at most one unit more per part than charging at once, and never less.
    #[test]
    fn parts_cost_at_most_a_unit_more(
        a in any_usage(), b in any_usage(), prices in any_prices(), tenant in any_multiplier(), target in any_multiplier(),
    ) {
        let both = charge(&sum_of(&a, &b), &prices, tenant, target).unwrap().units();
        let apart = charge(&a, &prices, tenant, target).unwrap().units() + charge(&b, &prices, tenant, target).unwrap().units();
        prop_assert!((both..=both + 1).contains(&apart), "{} {}", both, apart);
    }

    #[test]
    fn a_factor_never_makes_an_estimate_smaller(usage in any_usage(), prices in any_prices(), unit in prop_oneof![Just(Unit::Credit), Just(Unit::Token)]) {
        let tariff = Tariff { unit, prices, ..Tariff::default() };
        let estimate = tariff.estimate(&usage, Multiplier::parse("1.05").unwrap()).unwrap();
        prop_assert!(estimate >= tariff.charge(&usage).unwrap());
    }

    #[test]
    fn token_weights_of_one_count_tokens(usage in any_usage()) {
        let tokens = charge_tokens(&usage, &TokenWeights::default()).unwrap();
        prop_assert_eq!(u64::try_from(tokens.units()).unwrap(), usage.total_tokens());
    }

    /// No report makes a parser panic, and the parts of a prompt or completion never exceed what a total can hold.
    #[test]
    fn any_report_is_read_or_refused(value in any_json()) {
        let mut stream = AnthropicStream::default();
        stream.event(&serde_json::json!({"type": "message_start", "message": {"usage": value.clone()}}));
        stream.event(&serde_json::json!({"type": "message_delta", "usage": value.clone()}));
        let found = [
            usage::from_openai(&value), usage::from_responses(&value), usage::from_anthropic(&value),
            usage::from_embeddings(&value), usage::from_rerank(&value), stream.usage(),
        ];
        for usage in found.into_iter().flatten() {
            prop_assert!(usage.total_tokens() <= 8 * usage::MAX_COUNT);
            prop_assert_eq!(usage.requests, 1);
        }
    }
}
