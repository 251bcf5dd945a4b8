//! Bodies: what is wrong is named field by field, and money is never a float.

use reqwest::Method;
use serde_json::json;

use crate::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn each_field_says_what_is_wrong() {
    let world = World::start().await;
    let tenant = world.tenant("a", "1").await.id();
    let (tenants, grants) = ("/tenants".to_owned(), format!("/tenants/{tenant}/grants"));
    for (path, body, field, code) in [
        (&tenants, json!({}), "name", "required"),
        (&tenants, json!({"name": " "}), "name", "required"),
        (&tenants, json!({"name": "x".repeat(201)}), "name", "too_long"),
        (&tenants, json!({"name": "a", "extra": 1}), "extra", "unknown_field"),
        (&tenants, json!({"name": "a", "unit": "euro"}), "unit", "invalid"),
        (&tenants, json!({"name": "a", "time_zone": "Mars/Olympus"}), "time_zone", "invalid"),
        (&tenants, json!({"name": "a", "period": {"kind": "month", "anchor": 32}}), "period.anchor", "out_of_range"),
        (&tenants, json!({"name": "a", "plan": {"amount": 5.0}}), "plan.amount", "not_a_string"),
        (&tenants, json!({"name": "a", "plan": {"amount": "0"}}), "plan.amount", "out_of_range"),
        (&tenants, json!({"name": "a", "unit": "token", "plan": {"amount": "1.5"}}), "plan.amount", "too_precise"),
        (&tenants, json!({"name": "a", "settings": {"credit_limit": 3}}), "settings.credit_limit", "not_a_string"),
        (
            &tenants,
            json!({"name": "a", "settings": {"overdraft": {"enabled": true, "limit": "1", "percent": 20}}}),
            "settings.overdraft.percent",
            "conflict",
        ),
        (&grants, json!({"kind": "gift", "amount": 1}), "amount", "not_a_string"),
        (&grants, json!({"kind": "gift", "amount": "-1"}), "amount", "out_of_range"),
        (&grants, json!({"kind": "gift", "amount": "0.000000001"}), "amount", "too_precise"),
        (&grants, json!({"kind": "gift", "amount": "90071992.54740992"}), "amount", "out_of_range"),
        (&grants, json!({"kind": "loan", "amount": "1"}), "kind", "invalid"),
        (&grants, json!({"kind": "gift", "amount": "1", "ends_at": "2020-01-01T00:00:00Z"}), "ends_at", "out_of_range"),
        (&grants, json!({"kind": "gift", "amount": "1", "starts_at": "tomorrow"}), "starts_at", "invalid"),
    ] {
        world.post(path, &world.system, body).await.refused_field(field, code);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sums_end_at_the_largest_amount() {
    let world = World::start().await;
    let who = &world.system;
    let tenant = world.tenant("a", "1").await.id();
    let largest = json!({"kind": "gift", "amount": "90071992.54740991"});
    let grants = format!("/tenants/{tenant}/grants");
    world.post(&grants, who, largest).await.refused_field("amount", "out_of_range");
    world.post(&grants, who, json!({"kind": "gift", "amount": "90071991.54740991"})).await.expect(201);
    let change = json!({"delta": "0.00000001", "reason": "test"});
    world.post(&format!("/tenants/{tenant}/quota-changes"), who, change).await.expect(422);
    let quota = world.get(&format!("/tenants/{tenant}/quota"), who).await.expect(200).body;
    assert_eq!(quota["total"], "90071992.54740991");
    let limits = json!({"settings": {"limits": {"max_per_request": 5}}});
    let path = format!("/tenants/{tenant}");
    world.patch(&path, who, "*", limits).await.refused_field("settings.limits.max_per_request", "not_a_string");
}

#[tokio::test(flavor = "multi_thread")]
async fn query_parameters_are_read_with_care() {
    let world = World::start().await;
    for (path, field) in [
        ("/tenants?q=a%00b", "q"),
        ("/tenants?external_id=%00", "external_id"),
        ("/requests?model=%00", "model"),
        ("/requests?outcome=lost", "outcome"),
    ] {
        world.get(path, &world.system).await.refused_field(field, "invalid");
    }
    world.get("/requests?outcome=rolled_back", &world.system).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_wrong_is_said_at_once() {
    let world = World::start().await;
    let body = json!({"name": "", "time_zone": "x", "plan": {"amount": "-1"}});
    let answer = world.post("/tenants", &world.system, body).await.refused(422, "invalid_field");
    assert_eq!(answer.body["errors"].as_array().unwrap().len(), 3, "{}", answer.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_json_is_refused() {
    let world = World::start().await;
    let post = |body: String, media: &str| {
        let request = world.request(Method::POST, "/tenants", &world.system).header("idempotency-key", "k");
        world.send(request.header("content-type", media.to_owned()).body(body))
    };
    post("{".into(), "application/json").await.refused(400, "invalid_json");
    post(String::new(), "application/json").await.refused(400, "invalid_json");
    post("[".repeat(100_000), "application/json").await.expect(422);
    post(format!("{{\"name\":{}", "[".repeat(100_000)), "application/json").await.expect(422);
    post("{}".into(), "text/plain").await.refused(415, "unsupported_media_type");
    post("name=a".into(), "application/x-www-form-urlencoded").await.refused(415, "unsupported_media_type");
    post(format!("{{\"name\":\"{}\"}}", "x".repeat(1 << 20)), "application/json").await.refused(413, "too_large");
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_paths_and_methods_are_problems_too() {
    let world = World::start().await;
    world.get("/nothing", &world.system).await.refused(404, "not_found");
    world.get("/tenants/t_short", &world.system).await.refused(404, "not_found");
    world.get("/tenants/k_00000000000000000000000000", &world.system).await.refused(404, "not_found");
    let answer =
        world.send(world.request(Method::PUT, "/tenants", &world.system)).await.refused(405, "method_not_allowed");
    assert!(answer.headers.contains_key("allow"));
    assert_eq!(answer.headers["cache-control"], "no-store");
}

#[tokio::test(flavor = "multi_thread")]
async fn health_is_told() {
    let world = World::start().await;
    let get = |path: &str| {
        let url = format!("{}{path}", world.url);
        async move { reqwest::get(url).await.unwrap() }
    };
    assert_eq!(get("/healthz").await.status(), 200);
    let ready: serde_json::Value = get("/readyz").await.json().await.unwrap();
    assert_eq!(ready, json!({"ready": true, "postgres": true, "redis": true}));
}
