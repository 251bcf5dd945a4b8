//! Money moves once per `Idempotency-Key`.

use std::sync::Arc;

use serde_json::json;

use crate::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn fifty_parallel_twins_make_one_grant() {
    let world = Arc::new(World::start().await);
    let tenant = world.tenant("a", "1").await.id();
    let path = format!("/tenants/{tenant}/grants");
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let (world, path) = (Arc::clone(&world), path.clone());
        calls.spawn(async move {
            world
                .post_with_key(&path, &world.system, json!({"kind": "gift", "amount": "2.50"}), "twin")
                .await
                .expect(201)
                .body
        });
    }
    let replies = calls.join_all().await;
    assert_eq!(replies.len(), 50);
    assert!(replies.iter().all(|reply| *reply == replies[0]), "every twin gets the same reply");
    assert_eq!(replies[0]["quota"]["total"], "3.50000000");
    let grants = world.database.value("SELECT count(*) FROM grants WHERE kind = 'gift'").await.unwrap();
    assert_eq!(grants, json!(1));
    let audits = world.database.value("SELECT count(*) FROM audit_log WHERE action = 'grant.create'").await.unwrap();
    assert_eq!(audits, json!(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_is_equal_and_another_call_is_refused() {
    let world = World::start().await;
    let body = json!({"name": "a", "external_id": "x-1", "plan": {"amount": "1"}});
    let first = world.post_with_key("/tenants", &world.system, body.clone(), "k1").await.expect(201);
    let again = world.post_with_key("/tenants", &world.system, body.clone(), "k1").await.expect(201);
    assert_eq!(first.body, again.body);
    for name in ["location", "etag"] {
        assert_eq!(first.headers[name], again.headers[name], "{name}");
    }
    let other = json!({"name": "b", "plan": {"amount": "1"}});
    world.post_with_key("/tenants", &world.system, other, "k1").await.refused(409, "idempotency_mismatch");
    let path = format!("/tenants/{}/grants", first.id());
    world
        .post_with_key(&path, &world.system, json!({"kind": "gift", "amount": "1"}), "k1")
        .await
        .refused(409, "idempotency_mismatch");
    let taken = world.post_with_key("/tenants", &world.system, body, "k2").await.refused(409, "already_exists");
    assert_eq!(taken.body["tenant_id"], first.body["id"], "the tenant that has the external_id");
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_of_different_callers_never_meet() {
    let world = World::start().await;
    let other = world.token(&crate::world::all_scopes(), None).await;
    let first = world.post_with_key("/tenants", &world.system, json!({"name": "a"}), "k").await.expect(201).id();
    let second = world.post_with_key("/tenants", &other, json!({"name": "b"}), "k").await.expect(201).id();
    assert_ne!(first, second);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_call_leaves_its_key_free() {
    let world = World::start().await;
    let tenant = world.tenant("a", "1").await.id();
    let path = format!("/tenants/{tenant}/grants");
    world
        .post_with_key(&path, &world.system, json!({"kind": "gift", "amount": "0"}), "k")
        .await
        .refused_field("amount", "out_of_range");
    world.post_with_key(&path, &world.system, json!({"kind": "gift", "amount": "1"}), "k").await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn money_does_not_move_without_a_key() {
    let world = World::start().await;
    let tenant = world.tenant("a", "1").await.id();
    for (path, body) in [
        ("/tenants".to_owned(), json!({"name": "b"})),
        (format!("/tenants/{tenant}/grants"), json!({"kind": "gift", "amount": "1"})),
    ] {
        let request = world.request(reqwest::Method::POST, &path, &world.system).json(&body);
        world.send(request).await.refused(428, "idempotency_key_required");
        world.post_with_key(&path, &world.system, body, "a b").await.refused_field("Idempotency-Key", "invalid");
    }
}
