//! Tenants, their grants, projects and keys.

use serde_json::json;

use crate::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_begins_with_its_plan() {
    let world = World::start().await;
    let body = json!({"name": " Acme ", "external_id": "c-1", "unit": "credit", "time_zone": "Asia/Shanghai",
        "period": {"kind": "month", "anchor": 31}, "plan": {"amount": "5.00"}});
    let made = world.post("/tenants", &world.system, body).await.expect(201);
    assert_eq!(made.headers["location"], format!("/api/v1/tenants/{}", made.id()));
    let quota = &made.body["quota"];
    assert_eq!(
        (&quota["total"], &quota["used"], &quota["frozen"], &quota["remaining"]),
        (&json!("5.00000000"), &json!("0.00000000"), &json!("0.00000000"), &json!("5.00000000"))
    );
    assert_eq!(
        (&made.body["name"], &made.body["in_force"], &made.body["status"]),
        (&json!("Acme"), &json!(true), &json!("active"))
    );
    let read = world.get(&format!("/tenants/{}", made.id()), &world.system).await.expect(200);
    assert_eq!(read.headers["etag"], made.headers["etag"]);
    assert_eq!(read.body["quota"]["total"], "5.00000000");
    let detail = world.get(&format!("/tenants/{}/quota", made.id()), &world.system).await.expect(200).body;
    assert_eq!((&detail["remaining"], &detail["grants"][0]["kind"]), (&json!("5.00000000"), &json!("plan")));
    let token = world
        .post("/tenants", &world.system, json!({"name": "t", "unit": "token", "plan": {"amount": "1000"}}))
        .await
        .expect(201);
    assert_eq!(token.body["quota"]["total"], "1000");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_top_up_is_in_force_at_return() {
    let world = World::start().await;
    let tenant = world.tenant("a", "5").await.id();
    let body = json!({"kind": "temporary", "amount": "2.5", "note": "invoice 7", "ends_at": "2099-01-01T00:00:00Z"});
    let grant = world.post(&format!("/tenants/{tenant}/grants"), &world.system, body).await.expect(201).body;
    assert_eq!(
        (&grant["in_force"], &grant["status"], &grant["priority"]),
        (&json!(true), &json!("in_force"), &json!(20))
    );
    assert_eq!((&grant["remaining"], &grant["quota"]["total"]), (&json!("2.50000000"), &json!("7.50000000")));
    let later =
        json!({"kind": "gift", "amount": "1", "starts_at": "2098-01-01T00:00:00Z", "ends_at": "2099-01-01T00:00:00Z"});
    let later = world.post(&format!("/tenants/{tenant}/grants"), &world.system, later).await.expect(201).body;
    assert_eq!((&later["status"], &later["quota"]["total"]), (&json!("pending"), &json!("7.50000000")));
}

#[tokio::test(flavor = "multi_thread")]
async fn redis_away_delays_force_and_loses_nothing() {
    let mut world = World::start().await;
    let tenant = world.tenant("a", "5").await.id();
    world.redis.kill().unwrap();
    let body = json!({"kind": "gift", "amount": "1"});
    let grant = world
        .post_with_key(&format!("/tenants/{tenant}/grants"), &world.system, body.clone(), "k")
        .await
        .expect(201)
        .body;
    assert_eq!((&grant["in_force"], &grant["quota"]["total"]), (&json!(false), &json!("6.00000000")));
    assert_eq!(
        world.get(&format!("/tenants/{tenant}"), &world.system).await.expect(200).body["quota"]["total"],
        "6.00000000"
    );
    world.redis.restart().unwrap();
    let mut in_force = json!(false);
    for _ in 0..50 {
        in_force = world
            .post_with_key(&format!("/tenants/{tenant}/grants"), &world.system, body.clone(), "k")
            .await
            .expect(201)
            .body["in_force"]
            .clone();
        if in_force == true {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert_eq!(in_force, true, "the same call again brings it into force");
    assert_eq!(
        world.get(&format!("/tenants/{tenant}"), &world.system).await.expect(200).body["quota"]["total"],
        "6.00000000"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_made_on_what_was_read() {
    let world = World::start().await;
    let tenant = world.tenant("a", "5").await;
    let path = format!("/tenants/{}", tenant.id());
    let etag = tenant.headers["etag"].to_str().unwrap();
    let bare = world.request(reqwest::Method::PATCH, &path, &world.system).json(&json!({"name": "b"}));
    world.send(bare).await.refused(428, "precondition_required");
    let settings = json!({"overdraft": {"enabled": true, "limit": "1"}, "credit_limit": "2", "multiplier": "1.25"});
    let changed =
        world.patch(&path, &world.system, etag, json!({"external_id": "x", "settings": settings})).await.expect(200);
    assert_eq!((&changed.body["name"], &changed.body["in_force"]), (&json!("a"), &json!(true)));
    assert_eq!(
        changed.body["quota"]["overdraft"],
        json!({"enabled": true, "limit": "1.00000000", "used": "0.00000000", "remaining": "1.00000000"})
    );
    assert_eq!(changed.body["settings"]["multiplier"], "1.25");
    world.patch(&path, &world.system, etag, json!({"name": "b"})).await.refused(412, "precondition_failed");
    let etag = changed.headers["etag"].to_str().unwrap();
    let stopped = world
        .patch(&path, &world.system, etag, json!({"external_id": null, "settings": {"hard_stop": true}}))
        .await
        .expect(200)
        .body;
    assert_eq!(
        (&stopped["external_id"], &stopped["quota"]["overdraft"]["limit"]),
        (&json!(null), &json!("0.00000000"))
    );
    assert_eq!(stopped["settings"]["credit_limit"], "2.00000000", "kept for when the hard stop is lifted");
    let steps = json!([{"mode": "allowance", "for_s": 60}, {"mode": "deny"}]);
    let patch = json!({"settings": {"outage": steps}});
    assert_eq!(world.patch(&path, &world.system, "*", patch).await.expect(200).body["settings"]["outage"], steps);
    let drained =
        world.patch(&path, &world.system, "*", json!({"settings": {"drain_on_abort": true}})).await.expect(200);
    assert_eq!(
        (&drained.body["settings"]["drain_on_abort"], &drained.body["settings"]["outage"]),
        (&json!(true), &steps)
    );
    let endless = json!({"settings": {"outage": [{"mode": "allowance"}, {"mode": "deny"}]}});
    world.patch(&path, &world.system, "*", endless).await.refused_field("settings.outage[0].for_s", "invalid");
}

#[tokio::test(flavor = "multi_thread")]
async fn suspending_reaches_the_account() {
    let world = World::start().await;
    let tenant = world.tenant("a", "5").await.id();
    let status = || world.database.value("SELECT status FROM accounts WHERE level = 'tenant'");
    let path = format!("/tenants/{tenant}");
    world
        .post(&format!("{path}/suspend"), &world.system, json!({"reason": ""}))
        .await
        .refused_field("reason", "required");
    for _ in 0..2 {
        let suspended =
            world.post(&format!("{path}/suspend"), &world.system, json!({"reason": "unpaid"})).await.expect(200).body;
        assert_eq!(
            (&suspended["status"], &suspended["in_force"], &suspended["version"]),
            (&json!("suspended"), &json!(true), &json!(2))
        );
        assert_eq!(status().await.unwrap(), "suspended");
    }
    let resumed =
        world.post(&format!("{path}/resume"), &world.system, json!({"reason": "paid"})).await.expect(200).body;
    assert_eq!((&resumed["status"], &resumed["in_force"]), (&json!("active"), &json!(true)));
    assert_eq!(status().await.unwrap(), "active");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_lives_and_dies() {
    let world = World::start().await;
    let tenant = world.tenant("a", "5").await.id();
    let project = json!({"name": "p", "budget": {"amount": "3", "period": "month"}});
    let project = world.post(&format!("/tenants/{tenant}/projects"), &world.system, project).await.expect(201).body;
    assert_eq!((&project["quota"]["total"], &project["budget"]["period"]), (&json!("3.00000000"), &json!("month")));
    assert!(project["quota"]["resets_at"].is_string() && project["quota"]["period"].as_str().unwrap().starts_with('m'));
    let keys = format!("/projects/{}/keys", project["id"].as_str().unwrap());
    let body = json!({"name": "k", "ip_ranges": ["192.0.2.7/24", "2001:db8::1"], "safety_factor": 1.2, "expires_at": "2099-01-01T00:00:00Z"});
    let key = world.post(&keys, &world.system, body).await.expect(201).body;
    let secret = key["secret"].as_str().unwrap();
    assert!(
        secret.starts_with("tg_live_") && secret.starts_with(key["prefix"].as_str().unwrap()) && secret.len() == 46
    );
    assert_eq!(key["ip_ranges"], json!(["192.0.2.0/24", "2001:db8::1/128"]));
    assert_eq!(
        (&key["quota"]["total"], &key["quota"]["remaining"]),
        (&json!(null), &json!(null)),
        "no limit of its own"
    );
    let path = format!("/keys/{}", key["id"].as_str().unwrap());
    assert_eq!(world.get(&path, &world.system).await.expect(200).body.get("secret"), None);
    let account = || world.database.value("SELECT status FROM accounts WHERE level = 'key'");
    let disabled =
        world.post(&format!("{path}/disable"), &world.system, json!({"reason": "leak"})).await.expect(200).body;
    assert_eq!((&disabled["status"], &disabled["in_force"]), (&json!("disabled"), &json!(true)));
    assert_eq!(account().await.unwrap(), "suspended");
    let enabled =
        world.post(&format!("{path}/enable"), &world.system, json!({"reason": "found"})).await.expect(200).body;
    assert_eq!((&enabled["status"], account().await.unwrap()), (&json!("active"), json!("active")));
    world.delete(&path, &world.system).await.expect(204);
    assert_eq!(account().await.unwrap(), "closed");
    world.get(&path, &world.system).await.refused(404, "not_found");
    world.post(&format!("{path}/enable"), &world.system, json!({"reason": "x"})).await.refused(404, "not_found");
    assert_eq!(world.get(&keys, &world.system).await.expect(200).body["items"], json!([]));
    for (body, field) in [
        (json!({"name": "k", "ip_ranges": ["10.0.0.0/40"]}), "ip_ranges[0]"),
        (json!({"name": "k", "models": ["none such"]}), "models"),
        (json!({"name": "k", "safety_factor": "0.5"}), "safety_factor"),
        (json!({"name": "k", "expires_at": "2020-01-01T00:00:00Z"}), "expires_at"),
        (json!({"name": "k", "budget": {"amount": 1, "period": "day"}}), "budget.amount"),
    ] {
        let answer = world.post(&keys, &world.system, body).await.refused(422, "invalid_field");
        assert_eq!(answer.body["errors"][0]["field"], field, "{}", answer.body);
    }
}
