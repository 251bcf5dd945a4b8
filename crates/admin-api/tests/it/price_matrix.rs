//! The catalog as a file: what is read can be sent back, and what differs is said before it is done.

use reqwest::Method;
use serde_json::{Value, json};

use crate::bodies;
use crate::world::{Answer, World};

async fn put(world: &World, query: &str, matrix: &Value) -> Answer {
    world.send(world.request(Method::PUT, &format!("/price-matrix{query}"), &world.system).json(matrix)).await
}

async fn matrix(world: &World) -> Value {
    world.get("/price-matrix", &world.system).await.expect(200).body
}

/// Two models `a` and `b` with a price and a target each, over the upstream `one`.
async fn catalog() -> World {
    let world = World::start().await;
    let who = &world.system;
    let upstream = world.post("/upstreams", who, bodies::upstream("one")).await.expect(201).id();
    for name in ["b", "a"] {
        let model = world.post("/models", who, bodies::model(name)).await.expect(201).id();
        let price = json!({"input": "1.5", "output": "2"});
        world.post(&format!("/models/{model}/prices"), who, price).await.expect(201);
        let target = json!({"upstream_id": upstream, "upstream_model": "gpt"});
        world.post(&format!("/models/{model}/targets"), who, target).await.expect(201);
    }
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_read_can_be_sent_back() {
    let world = catalog().await;
    let read = matrix(&world).await;
    let names: Vec<&str> =
        read["models"].as_array().unwrap().iter().map(|model| model["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(read["models"][0]["targets"][0]["upstream"], "one");
    let same = put(&world, "", &read).await.expect(200).body;
    assert_eq!(same, json!({"dry_run": false, "added": [], "changed": [], "removed": [], "unchanged": 2}));
    let prices = world.database.value("SELECT count(*) FROM prices").await.unwrap();
    assert_eq!(prices, json!(2), "no price began anew");
    // Numbers written in another way are the same numbers.
    let mut written = read.clone();
    written["models"][0]["prices"]["input"] = json!("1.500");
    assert_eq!(put(&world, "?dry_run=true", &written).await.expect(200).body["unchanged"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_differs_is_said_before_it_is_done_and_done_wholly() {
    let world = catalog().await;
    let before = matrix(&world).await;
    let mut after = before.clone();
    after["models"][0]["prices"]["output"] = json!("3");
    after["models"][0]["max_output_tokens"] = json!(77);
    after["models"][0]["targets"][0]["weight"] = json!(9);
    let mut more = after["models"][0]["targets"][0].clone();
    more["upstream_model"] = json!("gpt-mini");
    after["models"][0]["targets"].as_array_mut().unwrap().push(more);
    let mut new = before["models"][1].clone();
    new["name"] = json!("c");
    after["models"][1] = new;
    let tried = put(&world, "?dry_run=true", &after).await.expect(200).body;
    assert_eq!(matrix(&world).await, before, "a dry run changes nothing");
    assert_eq!((&tried["added"], &tried["removed"], &tried["unchanged"]), (&json!(["c"]), &json!(["b"]), &json!(0)));
    let fields: Vec<&str> = tried["changed"][0]["differences"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["field"].as_str().unwrap())
        .collect();
    assert_eq!(fields, ["max_output_tokens", "prices.output", "targets.one/gpt", "targets.one/gpt-mini"]);
    assert_eq!(
        tried["changed"][0]["differences"][1],
        json!({"field": "prices.output", "before": "2.00000000", "after": "3"})
    );

    let done = put(&world, "", &after).await.expect(200).body;
    assert_eq!(
        (&done["changed"], &done["added"], &done["dry_run"]),
        (&tried["changed"], &tried["added"], &json!(false))
    );
    assert_eq!(put(&world, "?dry_run=true", &after).await.expect(200).body["unchanged"], 2);
    let versions = "SELECT count(*) FROM prices p JOIN models m ON m.id = p.model_id WHERE m.name = 'a'";
    assert_eq!(world.database.value(versions).await.unwrap(), json!(2), "the former price stays in the books");
    let entries = "SELECT count(*) FROM audit_log WHERE action = 'price_matrix.write'";
    assert_eq!(world.database.value(entries).await.unwrap(), json!(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_with_a_fault_changes_nothing_and_every_fault_is_named() {
    let world = catalog().await;
    let before = matrix(&world).await;
    let mut wrong = before.clone();
    wrong["models"][0]["targets"][0]["upstream"] = json!("nobody");
    wrong["models"][0]["prices"]["output"] = json!("-1");
    wrong["models"][1]["mode"] = json!("embedding");
    wrong["models"][1]["context_window"] = json!(0);
    for (field, code) in [
        ("models[0].targets[0].upstream", "not_found"),
        ("models[0].prices.output", "invalid"),
        ("models[1].mode", "conflict"),
        ("models[1].context_window", "out_of_range"),
    ] {
        put(&world, "", &wrong).await.refused_field(field, code);
    }
    let mut twice = before.clone();
    twice["models"][1]["name"] = json!("a");
    put(&world, "", &twice).await.refused_field("models[1].name", "already_exists");
    assert_eq!(matrix(&world).await, before);
}
