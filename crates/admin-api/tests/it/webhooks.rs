//! Webhook endpoints and the feed of events, as callers see them.

use domain::TenantId;
use reqwest::Method;
use serde_json::{Value, json};

use crate::world::World;

fn body(url: &str) -> Value {
    json!({"url": url, "event_types": ["quota.low", "quota.low", "webhook.test"], "description": "billing"})
}

/// An event that was handed on.
async fn event(world: &World, tenant: &str, position: i64) -> String {
    let (id, tenant) = (domain::EventId::generate(), tenant.parse::<TenantId>().unwrap());
    let sql = format!(
        "INSERT INTO outbox (event_id, type, tenant_id, data, position, payload)
         VALUES ('{}', 'quota.low', '{}', '{{}}', {position}, '{{\"n\": {position}}}')",
        id.uuid(),
        tenant.uuid()
    );
    world.database.execute(&sql).await.unwrap();
    id.to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_shown_once_and_an_endpoint_changed_by_its_etag() {
    let world = World::start().await;
    let tenant = world.tenant("a", "1").await.id();
    let owner = world.signed_in("tenant_owner", Some(tenant.parse().unwrap())).await;
    let made = world.post("/webhooks", &owner, body("https://example.com/x")).await.expect(201);
    let secret = made.body["secret"].as_str().unwrap().to_owned();
    assert!(secret.starts_with("whsec_") && secret.len() == 50, "{secret}");
    assert_eq!(made.body["tenant_id"], json!(tenant), "a tenant's owner makes the tenant's endpoints");
    assert_eq!(made.body["event_types"], json!(["quota.low", "webhook.test"]));
    let path = format!("/webhooks/{}", made.id());
    assert_eq!(made.headers["location"].to_str().unwrap(), format!("/api/v1{path}"));
    let read = world.get(&path, &owner).await.expect(200);
    assert!(read.body.get("secret").is_none());
    let etag = read.headers["etag"].to_str().unwrap().to_owned();
    world.patch(&path, &owner, &etag, json!({"url": "https://example.com/y"})).await.expect(200);
    world
        .patch(&path, &owner, &etag, json!({"url": "https://example.com/z"}))
        .await
        .refused(412, "precondition_failed");
    world
        .send(world.request(Method::PATCH, &path, &owner).json(&json!({})))
        .await
        .refused(428, "precondition_required");
    let rotated = world.post(&format!("{path}/rotate-secret"), &owner, json!({})).await.expect(200);
    assert_ne!(rotated.body["secret"], json!(secret));
    let read = world.get(&path, &owner).await.expect(200);
    assert_eq!(read.body["old_valid_until"], rotated.body["old_valid_until"]);
    let stored =
        world.database.rows("SELECT encode(sealed_secret, 'escape') AS s FROM webhook_endpoints").await.unwrap();
    assert!(!stored[0]["s"].as_str().unwrap().contains("whsec_"), "sealed");
    let audited =
        world.database.rows("SELECT action, after::text AS after FROM audit_log WHERE target LIKE 'wh_%' ORDER BY id");
    let audited = audited.await.unwrap();
    let actions: Vec<_> = audited.iter().map(|row| row["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["webhook.create", "webhook.change", "webhook.rotate_secret"]);
    assert!(audited.iter().all(|row| !row["after"].as_str().unwrap_or_default().contains("whsec_")));
    world.delete(&path, &owner).await.expect(204);
    world.get(&path, &owner).await.refused(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_endpoint_is_refused() {
    let world = World::start().await;
    let (tenant, other) = (world.tenant("a", "1").await.id(), world.tenant("b", "1").await.id());
    for url in [
        "",
        "x",
        "ftp://example.com",
        "http://example.com/x",
        "https://u:p@example.com/",
        "https://",
        "/x",
        "https://e.x/#a",
    ] {
        world.post("/webhooks", &world.system, body(url)).await.refused_field("url", "invalid");
    }
    let mut none = body("https://example.com");
    none["event_types"] = json!([]);
    world.post("/webhooks", &world.system, none).await.refused_field("event_types", "required");
    let mut unknown = body("https://example.com");
    unknown["event_types"] = json!(["quota.lwo"]);
    world.post("/webhooks", &world.system, unknown).await.refused(422, "invalid_field");
    let owner = world.signed_in("tenant_owner", Some(tenant.parse().unwrap())).await;
    let mut foreign = body("https://example.com");
    foreign["tenant_id"] = json!(other);
    world.post("/webhooks", &owner, foreign).await.refused_field("tenant_id", "not_found");
    let platform = world.post("/webhooks", &world.system, body("https://example.com")).await.expect(201);
    assert_eq!(platform.body["tenant_id"], Value::Null);
    world.get(&format!("/webhooks/{}", platform.id()), &owner).await.refused(404, "not_found");
    assert_eq!(world.get("/webhooks", &owner).await.expect(200).body["items"], json!([]));
    for _ in 0..50 {
        world.post("/webhooks", &owner, body("https://example.com")).await.expect(201);
    }
    world.post("/webhooks", &owner, body("https://example.com")).await.refused(409, "conflict");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_feed_is_ordered_and_misses_nothing() {
    let world = World::start().await;
    let (tenant, other) = (world.tenant("a", "1").await.id(), world.tenant("b", "1").await.id());
    let owner = world.signed_in("tenant_owner", Some(tenant.parse().unwrap())).await;
    // Handed on in another order than they were written.
    let third = event(&world, &tenant, 3).await;
    let first = event(&world, &tenant, 1).await;
    let foreign = event(&world, &other, 2).await;
    let ids = |answer: &Value| -> Vec<String> {
        answer["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
    };
    let all = world.get("/events", &world.system).await.expect(200).body;
    assert_eq!(ids(&all), [first.clone(), foreign.clone(), third.clone()]);
    assert_eq!(all["items"][0]["data"], json!({"n": 1}));
    let page = world.get("/events?limit=1", &owner).await.expect(200).body;
    assert_eq!((ids(&page), &page["next_cursor"]), (vec![first.clone()], &json!(first)));
    let page = world.get(&format!("/events?after={first}"), &owner).await.expect(200).body;
    assert_eq!((ids(&page), &page["next_cursor"]), (vec![third.clone()], &Value::Null));
    assert_eq!(ids(&world.get("/events?type=quota.exhausted", &owner).await.expect(200).body), Vec::<String>::new());
    world.get(&format!("/events?after={foreign}"), &owner).await.refused_field("after", "not_found");
    world.get("/events?after=x", &owner).await.refused(422, "invalid_field");
    let types = world.get("/event-types", &owner).await.expect(200).body;
    assert_eq!(types.as_array().unwrap().len(), 13);
    assert_eq!(types[0]["schema"]["properties"]["type"]["const"], "quota.low");
}

#[tokio::test(flavor = "multi_thread")]
async fn events_are_delivered_again_by_id_or_range_and_never_to_strangers() {
    let world = World::start().await;
    let (tenant, other) = (world.tenant("a", "1").await.id(), world.tenant("b", "1").await.id());
    let owner = world.signed_in("tenant_owner", Some(tenant.parse().unwrap())).await;
    let path = format!("/webhooks/{}", world.post("/webhooks", &owner, body("https://example.com")).await.id());
    let (one, _two, foreign) =
        (event(&world, &tenant, 1).await, event(&world, &tenant, 2).await, event(&world, &other, 3).await);
    let again = format!("{path}/redeliver");
    let queued = world.post(&again, &owner, json!({"event_ids": [one, foreign]})).await.expect(200);
    assert_eq!(queued.body["queued"], 1);
    let queued = world.post(&again, &owner, json!({"from": "2020-01-01T00:00:00Z"})).await.expect(200);
    assert_eq!(queued.body["queued"], 2);
    for wrong in [json!({}), json!({"event_ids": []}), json!({"event_ids": [one], "from": "2020-01-01T00:00:00Z"})] {
        world.post(&again, &owner, wrong).await.refused(422, "invalid_field");
    }
    let list = world.get(&format!("{path}/deliveries?limit=1"), &owner).await.expect(200).body;
    assert_eq!((&list["items"][0]["state"], &list["items"][0]["type"]), (&json!("pending"), &json!("quota.low")));
    let cursor = list["next_cursor"].as_str().unwrap();
    let list = world.get(&format!("{path}/deliveries?cursor={cursor}"), &owner).await.expect(200).body;
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
    let sql = "UPDATE webhook_endpoints SET status = 'disabled', disabled_reason = 'gone', failing_since = now()";
    world.database.execute(sql).await.unwrap();
    world.post(&again, &owner, json!({"event_ids": [one]})).await.refused(409, "conflict");
    world.post(&format!("{path}/test"), &owner, json!({})).await.refused(409, "conflict");
    let enabled = world.post(&format!("{path}/enable"), &owner, json!({})).await.expect(200).body;
    assert_eq!((&enabled["status"], &enabled["failing_since"]), (&json!("enabled"), &Value::Null));
    let sent = world.post(&format!("{path}/test"), &owner, json!({})).await.expect(200).body;
    assert!(sent["event_id"].as_str().unwrap().starts_with("evt_"));
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_and_suspensions_are_told_in_the_same_transaction() {
    let world = World::start().await;
    let tenant = world.tenant("a", "1").await.id();
    let project = world.post(&format!("/tenants/{tenant}/projects"), &world.system, json!({"name": "p"})).await.id();
    let key = world.post(&format!("/projects/{project}/keys"), &world.system, json!({"name": "k"})).await.expect(201);
    let (path, reason) = (format!("/keys/{}", key.id()), json!({"reason": "leaked"}));
    // Disabling what is disabled already is no news.
    for _ in 0..2 {
        world.post(&format!("{path}/disable"), &world.system, reason.clone()).await.expect(200);
    }
    world.delete(&path, &world.system).await.expect(204);
    world.post(&format!("/tenants/{tenant}/suspend"), &world.system, json!({"reason": "unpaid"})).await.expect(200);
    let told = world.database.rows("SELECT type, data, data::text AS text FROM outbox ORDER BY id").await.unwrap();
    let kinds: Vec<_> = told.iter().map(|row| (row["type"].as_str().unwrap(), &row["data"]["reason"])).collect();
    let expected = [
        ("key.created", &Value::Null),
        ("key.revoked", &json!("disabled")),
        ("key.revoked", &json!("deleted")),
        ("tenant.suspended", &json!("unpaid")),
    ];
    assert_eq!(kinds, expected);
    let secret = key.body["secret"].as_str().unwrap();
    assert!(
        told.iter()
            .all(|row| row["data"]["tenant_id"] == json!(tenant) && !row["text"].as_str().unwrap().contains(secret))
    );
    assert_eq!((&told[0]["data"]["key_id"], &told[0]["data"]["prefix"]), (&key.body["id"], &key.body["prefix"]));
    // A refused change tells nothing.
    world
        .post(&format!("/projects/{project}/keys"), &world.system, json!({"name": ""}))
        .await
        .refused(422, "invalid_field");
    assert_eq!(world.database.rows("SELECT FROM outbox").await.unwrap().len(), 4);
}
