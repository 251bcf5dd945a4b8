//! Every change leaves an audit entry with who, what and from where; and the books agree with it.

use serde_json::json;

use crate::samples::Sample;
use crate::world::{Who, World};

#[tokio::test(flavor = "multi_thread")]
async fn every_change_is_audited() {
    let world = World::start().await;
    let owner = world.signed_in("owner", None).await;
    let sample = Sample::make(&world).await;
    let count = || async { world.database.value("SELECT count(*) FROM audit_log").await.unwrap().as_i64().unwrap() };
    let document = world.get("/openapi.json", &Who::Nobody).await.expect(200).body;
    let mut changes = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let id = operation["operationId"].as_str().unwrap();
            if method == "get" || operation["x-callers"]["anyone"] == true || method == "delete" {
                continue;
            }
            // What can't be used afterwards has a sample of its own.
            let last = ["close_tenant", "archive_project"].contains(&id);
            let own = if last { Some(Sample::make(&world).await) } else { None };
            let sample = own.as_ref().unwrap_or(&sample);
            let path = sample.path(path.strip_prefix("/api/v1").unwrap());
            let request = world.request(method.to_uppercase().parse().unwrap(), &path, &owner);
            let request = request.header("idempotency-key", id).header("if-match", "*");
            crate::samples::prepare(&world, id, sample).await;
            let before = count().await;
            let answer = world.send(request.json(&crate::samples::body(id, sample).unwrap())).await;
            assert!(answer.status.is_success(), "{id}: {}", answer.body);
            assert_eq!(count().await, before + 1, "{id} leaves one entry");
            changes += 1;
        }
    }
    assert!(changes >= 15, "{changes}");
    for path in [format!("/keys/{}", sample.key), format!("/targets/{}", sample.target)] {
        let before = count().await;
        world.delete(&path, &owner).await.expect(204);
        assert_eq!(count().await, before + 1, "{path}");
    }
    let complete = "SELECT count(*) FROM audit_log WHERE actor = '' OR target = '' OR address <> '127.0.0.1' OR request_id IS NULL";
    assert_eq!(world.database.value(complete).await.unwrap(), json!(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn grants_and_accounts_add_up() {
    let world = World::start().await;
    let tenant = world.tenant("a", "1.1").await.id();
    for amount in ["0.00000001", "2.2", "3"] {
        world
            .post(&format!("/tenants/{tenant}/grants"), &world.system, json!({"kind": "gift", "amount": amount}))
            .await
            .expect(201);
    }
    let sums = "SELECT a.total = (SELECT sum(amount) FROM grants) AND a.total = (SELECT sum(delta) FROM grant_events)
                AND a.granted_sum = a.total AND a.total = 630000001 FROM accounts a";
    assert_eq!(world.database.value(sums).await.unwrap(), json!(true));
}
