//! What last month would have cost: exact, to the unit.

use domain::record::Outcome;
use domain::{Usage, UsageRecord};
use serde_json::{Value, json};
use store::record::OutcomeRow;

use crate::bodies;
use crate::spend::{Payer, book};
use crate::world::World;

const COUNTS: [(u64, u64, u64); 4] = [(1, 0, 0), (333, 7, 11), (1_000_003, 999_999, 77), (0, 0, 12_345)];

/// A model with a price, and a target with a factor; returns the target's id.
async fn model(world: &World, name: &str, price: &Value) -> String {
    let model = world.post("/models", &world.system, bodies::model(name)).await.expect(201).id();
    let upstream = world.post("/upstreams", &world.system, bodies::upstream(name)).await.expect(201).id();
    let target = json!({"upstream_id": upstream, "upstream_model": "x", "multiplier": "1.2345"});
    let target = world.post(&format!("/models/{model}/targets"), &world.system, target).await.expect(201).id();
    world.post(&format!("/models/{model}/prices"), &world.system, price.clone()).await.expect(201);
    target
}

#[tokio::test(flavor = "multi_thread")]
async fn the_prices_in_force_give_the_charge_to_the_unit() {
    let world = World::start().await;
    let tenant = json!({"name": "a", "plan": {"amount": "1000"}, "settings": {"multiplier": "0.9001"}});
    let tenant = world.post("/tenants", &world.system, tenant).await.expect(201).id();
    let (one, two) = (Payer::of(&world, &tenant).await, Payer::of(&world, &tenant).await);
    let price = json!({"input": "0.15000001", "cached_input": "0.07", "output": "0.6", "per_request": "0.00000003"});
    let target = model(&world, "fast", &price).await;
    // As a gateway charges: by the counts, the tenant's factor and that of the target that served.
    let tariff = domain::Tariff {
        prices: serde_json::from_value(price.clone()).unwrap(),
        tenant: factor("0.9001"),
        target: factor("1.2345"),
        ..domain::Tariff::default()
    };
    let mut charged = [0_i64; 2];
    for (index, (input, cached_input, output)) in COUNTS.into_iter().enumerate() {
        let usage = Usage { input, cached_input, output, requests: 1, ..Usage::default() };
        let units = tariff.charge(&usage).unwrap().units();
        charged[index % 2] += units;
        book(&world, &served([one, two][index % 2].row("fast", Outcome::Final, units, usage), &target)).await;
    }
    // Usage that came from outside, priced by the API itself; an amount from outside; a roll back; another model.
    let at = "2026-01-01T00:00:00Z";
    let outside = json!({"key_id": one.key, "model": "fast", "usage": {"input": 77, "output": 5}, "reference": "u", "occurred_at": time_now()});
    let outside = world.post("/usage/ingest", &world.system, outside).await.expect(201).body["charge"].clone();
    let amount = json!({"key_id": one.key, "model": "fast", "charge": "0.5", "reference": "a", "occurred_at": at});
    world.post("/usage/ingest", &world.system, amount).await.expect(201);
    book(&world, &one.row("fast", Outcome::RolledBack, 0, Usage::of_tokens(9, 9))).await;
    book(&world, &one.row("other", Outcome::Final, 7, Usage::of_tokens(9, 9))).await;
    let outside = domain::Amount::parse(outside.as_str().unwrap(), domain::Unit::Credit).unwrap().units();
    let sums = [charged[0] + outside + 50_000_000 + 7, charged[1]];

    let simulate = async |price: &Value, by: &str| {
        let body = json!({"from": "2026-01-01T00:00:00Z", "to": "2999-01-01T00:00:00Z", "group_by": by,
            "prices": [{"model": "fast", "price": price}]});
        world.post("/price-simulations", &world.system, body).await.expect(200).body
    };
    let credits = |units: i64| json!(api_types::Decimal::of_sum(units.into(), domain::Unit::Credit));
    let same = simulate(&price, "key").await;
    assert_eq!((&same["actual"], &same["simulated"]), (&credits(sums[0] + sums[1]), &credits(sums[0] + sums[1])));
    assert_eq!(same["kept"], 1, "the amount from outside");
    let mut items = vec![
        json!({"group": one.key, "requests": 6, "actual": credits(sums[0]), "simulated": credits(sums[0])}),
        json!({"group": two.key, "requests": 2, "actual": credits(sums[1]), "simulated": credits(sums[1])}),
    ];
    items.sort_by_key(|item| item["group"].as_str().unwrap().to_owned());
    assert_eq!(same["items"], json!(items));

    // Other prices: each request is priced and rounded up by itself, as it would have been.
    let dearer = json!({"input": "0.3", "output": "0.7"});
    let other = domain::Tariff { prices: serde_json::from_value(dearer.clone()).unwrap(), ..tariff };
    let expected: i64 = COUNTS
        .into_iter()
        .map(|(input, cached_input, output)| Usage { input, cached_input, output, requests: 1, ..Usage::default() })
        .map(|usage| other.charge(&usage).unwrap().units())
        .sum();
    let ingested = domain::Tariff { target: domain::Multiplier::ONE, ..other };
    let expected = expected + ingested.charge(&Usage::of_tokens(77, 5)).unwrap().units() + 50_000_000;
    let simulated = simulate(&dearer, "model").await;
    let of = |name: &str| simulated["items"].as_array().unwrap().iter().find(|item| item["group"] == name).unwrap();
    assert_eq!((&of("fast")["simulated"], &of("other")["simulated"]), (&credits(expected), &credits(7)), "{simulated}");
    assert_eq!(simulated["simulated"], credits(expected + 7));
    let free = simulate(&json!({"input": "0", "output": "0"}), "model").await;
    assert_eq!((&free["actual"], &free["simulated"]), (&credits(sums[0] + sums[1]), &credits(50_000_007)));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_can_not_be_simulated_is_refused_by_name() {
    let world = World::start().await;
    let payer = Payer::make(&world, "a", "1").await;
    book(&world, &payer.row("fast", Outcome::Final, 5, Usage::of_tokens(5, 5))).await;
    let good = json!({"model": "fast", "price": {"input": "1", "output": "1"}});
    let body = |from: &str, prices: Value| json!({"from": from, "to": "2999-01-01T00:00:00Z", "prices": prices});
    let from = "2026-01-01T00:00:00Z";
    for (body, field, code) in [
        (body("2999-01-01T00:00:00Z", json!([good])), "to", "out_of_range"),
        (body(from, json!([])), "prices", "out_of_range"),
        (body(from, json!([good, good])), "prices[1].model", "already_exists"),
        (body(from, json!([{"model": "a\u{0}", "price": {"input": "1"}}])), "prices[0].model", "invalid"),
        (
            body(from, json!([{"model": "fast", "price": {"input": "-1", "output": "1"}}])),
            "prices[0].price.input",
            "invalid",
        ),
        (body(from, json!([{"model": "fast", "price": {}}])), "prices[0].price.input", "required"),
        (
            body(from, json!([{"model": "fast", "price": {"input": "1", "valid_from": from}}])),
            "prices[0].price",
            "invalid",
        ),
        (body(from, json!([{"model": "fast", "price": {"input": "1"}}])), "prices", "not_priced"),
    ] {
        let answer = world.post("/price-simulations", &world.system, body.clone()).await;
        assert_eq!(answer.status, 422, "{body}: {}", answer.body);
        answer.refused_field(field, code);
    }
}

fn served(mut row: OutcomeRow, target: &str) -> OutcomeRow {
    let attempt =
        |target: &str, status| domain::Attempt { target: target.parse().unwrap(), status, ms: 1, error: None };
    let failed = domain::TargetId::generate().to_string();
    row.record = UsageRecord { attempts: vec![attempt(&failed, None), attempt(target, Some(200))], ..row.record };
    row
}

fn time_now() -> api_types::Timestamp {
    time::OffsetDateTime::now_utc().into()
}

fn factor(text: &str) -> domain::Multiplier {
    domain::Multiplier::parse(text).unwrap()
}
