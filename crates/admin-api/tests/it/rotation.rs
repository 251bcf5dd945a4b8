//! Secrets are rotated with a grace, in which the old one and the new one are good.

use serde_json::json;

use crate::world::{Who, World};

#[tokio::test(flavor = "multi_thread")]
async fn a_key_keeps_its_numbers_and_gets_another_secret() {
    let world = World::start().await;
    let who = &world.system;
    let tenant = world.tenant("a", "5").await.id();
    let project = world.post(&format!("/tenants/{tenant}/projects"), who, json!({"name": "p"})).await.expect(201).id();
    let key = world.post(&format!("/projects/{project}/keys"), who, json!({"name": "k"})).await.expect(201);
    let (id, first) = (key.id(), key.body["secret"].as_str().unwrap().to_owned());
    let path = format!("/keys/{id}/rotate");
    let rotated = world.post(&path, who, json!({"grace_s": 60})).await.expect(200).body;
    let second = rotated["secret"].as_str().unwrap();
    assert!(second.starts_with("tg_live_") && second != first);
    let shown = world.get(&format!("/keys/{id}"), who).await.expect(200).body;
    assert!(second.starts_with(shown["prefix"].as_str().unwrap()) && shown.get("secret").is_none());
    assert_eq!(shown["version"], 2);
    world.post(&path, who, json!({"grace_s": 2_592_001})).await.refused_field("grace_s", "out_of_range");
    world.post(&path, who, json!({"grace_s": -1})).await.expect(422);
    world.post(&path, who, json!({})).await.expect(200);
    let retired = world.database.rows("SELECT count(*) AS n FROM retired_key_secrets").await.unwrap();
    assert_eq!(retired[0]["n"], 2, "each rotation's old secret has a grace of its own");
    world.post(&format!("/keys/{id}/disable"), who, json!({"reason": "test"})).await.expect(200);
    world.post(&path, who, json!({})).await.refused(409, "conflict");
    let audit = world.database.rows("SELECT after::text AS after FROM audit_log").await.unwrap();
    assert!(!serde_json::to_string(&audit).unwrap().contains(second), "the audit log holds no secret");
}

#[tokio::test(flavor = "multi_thread")]
async fn both_secrets_of_a_service_token_work_in_the_grace() {
    let world = World::start().await;
    let who = &world.signed_in("owner", None).await;
    let made = world.post("/service-tokens", who, json!({"name": "t", "scopes": ["tenants:read"]})).await.expect(201);
    let bearer = |secret: &serde_json::Value| Who::Bearer(secret.as_str().unwrap().to_owned());
    let first = bearer(&made.body["secret"]);
    let path = format!("/service-tokens/{}/rotate", made.id());
    let second = bearer(&world.post(&path, who, json!({"grace_s": 60})).await.expect(200).body["secret"]);
    for token in [&first, &second] {
        world.get("/tenants", token).await.expect(200);
    }
    let third = bearer(&world.post(&path, who, json!({"grace_s": 0})).await.expect(200).body["secret"]);
    world.get("/tenants", &third).await.expect(200);
    world.get("/tenants", &second).await.refused(401, "unauthenticated");
    world.delete(&format!("/service-tokens/{}", made.id()), who).await.expect(204);
    for token in [&first, &third] {
        world.get("/tenants", token).await.refused(401, "unauthenticated");
    }
    world.post(&path, who, json!({})).await.refused(404, "not_found");
}
