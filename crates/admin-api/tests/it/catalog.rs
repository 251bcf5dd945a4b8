//! Models, targets, prices, upstreams.

use serde_json::json;

use crate::bodies;
use crate::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_providers_key_never_comes_back() {
    let world = World::start().await;
    let made = world.post("/upstreams", &world.system, bodies::upstream("u")).await.expect(201);
    assert_eq!((&made.body["key_hint"], made.body.get("api_key")), (&json!("...cdef"), None));
    let path = format!("/upstreams/{}", made.id());
    let etag = made.headers["etag"].to_str().unwrap();
    let changed = world.patch(&path, &world.system, etag, json!({"api_key": "sk-other-0123456789"})).await.expect(200);
    assert_eq!((&changed.body["key_hint"], &changed.body["key_version"]), (&json!("...6789"), &json!(2)));
    world.patch(&path, &world.system, etag, json!({"name": "x"})).await.refused(412, "precondition_failed");
    let removed = world.patch(&path, &world.system, "*", json!({"api_key": null, "name": "v"})).await.expect(200).body;
    assert_eq!((&removed["key_hint"], &removed["name"]), (&json!(null), &json!("v")));
    world.post("/upstreams", &world.system, bodies::upstream("v")).await.refused(409, "already_exists");
    for (body, field) in [
        (json!({"name": "w", "kind": "openai", "base_url": "ftp://x"}), "base_url"),
        (json!({"name": "w", "kind": "openai", "base_url": "https://user:pw@x"}), "base_url"),
        (json!({"name": "w", "kind": "openai", "base_url": "https://x", "api_key": "a\nb"}), "api_key"),
        (json!({"name": "w", "kind": "openai", "base_url": "https://x", "read_timeout_ms": 0}), "read_timeout_ms"),
        (json!({"name": "w", "kind": "cohere", "base_url": "https://x"}), "kind"),
    ] {
        let answer = world.post("/upstreams", &world.system, body).await.refused(422, "invalid_field");
        assert_eq!(answer.body["errors"][0]["field"], field, "{}", answer.body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_has_targets_and_prices() {
    let world = World::start().await;
    let model = world.post("/models", &world.system, bodies::model("gpt")).await.expect(201);
    assert_eq!((&model.body["freeze_output_tokens"], &model.body["price_in_force"]), (&json!(1000), &json!(null)));
    world.post("/models", &world.system, bodies::model("gpt")).await.refused(409, "already_exists");
    let path = format!("/models/{}", model.id());
    let upstream = world.post("/upstreams", &world.system, bodies::upstream("u")).await.expect(201).id();
    let target = json!({"upstream_id": upstream, "upstream_model": "gpt-x", "multiplier": "1.5", "weight": 2});
    let target = world.post(&format!("{path}/targets"), &world.system, target).await.expect(201).body;
    assert_eq!(
        (&target["dialects"], &target["enabled"], &target["multiplier"]),
        (&json!(["openai"]), &json!(true), &json!("1.5000"))
    );
    world.delete(&format!("/upstreams/{upstream}"), &world.system).await.refused(409, "conflict");
    let prices = format!("{path}/prices");
    let price = json!({"valid_from": "2025-01-01T00:00:00Z", "input": "0.15", "cached_input": "0.075", "output": "0.60", "per_request": "0.10"});
    let price = world.post(&prices, &world.system, price).await.expect(201).body;
    assert_eq!(
        (&price["input"], &price["reasoning"], &price["per_request"]),
        (&json!("0.15000000"), &json!(null), &json!("0.10000000"))
    );
    world
        .post(&prices, &world.system, json!({"valid_from": "2099-01-01T00:00:00Z", "input": "9", "output": "9"}))
        .await
        .expect(201);
    world
        .post(&prices, &world.system, json!({"valid_from": "2099-01-01T00:00:00Z", "input": "8"}))
        .await
        .refused(409, "already_exists");
    let read = world.get(&path, &world.system).await.expect(200).body;
    assert_eq!(read["price_in_force"]["input"], "0.15000000", "a later price is not in force yet");
    assert_eq!(world.get(&prices, &world.system).await.expect(200).body["items"].as_array().unwrap().len(), 2);
    for (body, field) in [
        (json!({"input": 0.15}), "input"),
        (json!({"input": "-1"}), "input"),
        (json!({"input": "0.000000001"}), "input"),
        (json!({}), "input"),
        (json!({"input": "1", "valid_from": "2020-01-01T00:00:00Z"}), "valid_from"),
        (json!({"input": "1", "token_weights": {"colour": "2"}}), "token_weights"),
    ] {
        let answer = world.post(&prices, &world.system, body).await.refused(422, "invalid_field");
        assert_eq!(answer.body["errors"][0]["field"], field, "{}", answer.body);
    }
    world
        .post(
            &format!("{path}/targets"),
            &world.system,
            json!({"upstream_id": "up_00000000000000000000000000", "upstream_model": "x"}),
        )
        .await
        .refused_field("upstream_id", "not_found");
}
