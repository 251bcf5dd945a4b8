//! Deltas to quota and budgets, grants that end, plans that renew: by the API alone.

use domain::period::{Cycle, PeriodKind, Zone};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::world::World;

/// total, used, remaining.
fn three(quota: &Value) -> [&str; 3] {
    ["total", "used", "remaining"].map(|name| quota[name].as_str().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenants_quota_is_raised_and_lowered_by_deltas() {
    let world = World::start().await;
    let tenant = world.tenant("a", "5").await.id();
    let path = format!("/tenants/{tenant}/quota-changes");
    let change = |body: Value| world.post(&path, &world.system, body);
    let raised = change(json!({"delta": "1.5", "reason": "more"})).await.expect(201).body;
    assert_eq!(three(&raised["before"]), ["5.00000000", "0.00000000", "5.00000000"]);
    assert_eq!(three(&raised["after"]), ["6.50000000", "0.00000000", "6.50000000"]);
    assert_eq!((&raised["delta"], &raised["in_force"]), (&json!("1.50000000"), &json!(true)));
    let tried = change(json!({"delta": "-6.5", "reason": "try", "dry_run": true})).await.expect(200).body;
    assert_eq!((&tried["id"], three(&tried["after"])[0]), (&json!(null), "0.00000000"));
    let lowered = change(json!({"delta": "-2.5", "reason": "less"})).await.expect(201).body;
    assert_eq!(three(&lowered["after"])[0], "4.00000000");
    for dry_run in [true, false] {
        let refused = change(json!({"delta": "-4.00000001", "reason": "x", "dry_run": dry_run})).await;
        let refused = refused.refused(409, "below_committed").body;
        assert_eq!(three(&refused["quota"]), ["4.00000000", "0.00000000", "4.00000000"]);
        assert_eq!(refused["quota"]["frozen"], "0.00000000");
        assert!(refused["remedy"].as_str().unwrap().contains("remaining"));
    }
    let quota = world.get(&format!("/tenants/{tenant}/quota"), &world.system).await.expect(200).body;
    assert_eq!(three(&quota), ["4.00000000", "0.00000000", "4.00000000"]);
    let listed = world.get(&path, &world.system).await.expect(200).body;
    let deltas: Vec<_> =
        listed["items"].as_array().unwrap().iter().map(|item| item["delta"].as_str().unwrap()).collect();
    assert_eq!(deltas, ["-2.50000000", "1.50000000"], "refused ones are not among them");
    change(json!({"delta": "0", "reason": "x"})).await.refused_field("delta", "out_of_range");
    change(json!({"delta": "1", "reason": ""})).await.refused_field("reason", "required");
    change(json!({"total": "7", "delta": "1", "reason": "x"})).await.refused_field("total", "unknown_field");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_call_changes_a_quota_once() {
    let world = World::start().await;
    let tenant = world.tenant("a", "5").await.id();
    let path = format!("/tenants/{tenant}/quota-changes");
    let body = json!({"delta": "-1", "reason": "less", "recurring": true});
    let calls = (0..8).map(|_| world.post_with_key(&path, &world.system, body.clone(), "one"));
    let answers = futures_util::future::join_all(calls).await;
    let ids: std::collections::BTreeSet<String> = answers.into_iter().map(|answer| answer.expect(201).id()).collect();
    assert_eq!(ids.len(), 1);
    let sums = "SELECT a.total = 400000000 AND p.amount = 400000000 AND a.pending_decrease = 0
                AND a.total = (SELECT sum(delta) FROM grant_events) FROM accounts a, plans p";
    assert_eq!(world.database.value(sums).await.unwrap(), json!(true));
}

#[tokio::test(flavor = "multi_thread")]
async fn budgets_of_projects_and_keys_change_in_their_period() {
    let world = World::start().await;
    let tenant = world.tenant("a", "5").await.id();
    let body = json!({"name": "p", "budget": {"amount": "3", "period": "month"}});
    let project = world.post(&format!("/tenants/{tenant}/projects"), &world.system, body).await.expect(201).id();
    let body = json!({"name": "k", "budget": {"amount": "2", "period": "day"}});
    let key = world.post(&format!("/projects/{project}/keys"), &world.system, body).await.expect(201).id();
    for (path, delta, total, recurring) in [
        (format!("/projects/{project}"), "-1", "2.00000000", true),
        (format!("/keys/{key}"), "0.5", "2.50000000", false),
    ] {
        let body = json!({"delta": delta, "reason": "x", "recurring": recurring});
        let changed = world.post(&format!("{path}/quota-changes"), &world.system, body).await.expect(201).body;
        assert_eq!(three(&changed["after"])[0], total);
        let read = world.get(&path, &world.system).await.expect(200).body;
        assert_eq!(read["quota"]["total"], total);
        let budget = if recurring { total } else { "2.00000000" };
        assert_eq!(read["budget"]["amount"], budget, "later periods");
        assert!(read["quota"]["resets_at"].is_string());
    }
    let bare =
        world.post(&format!("/projects/{project}/keys"), &world.system, json!({"name": "b"})).await.expect(201).id();
    let body = json!({"delta": "1", "reason": "x"});
    world.post(&format!("/keys/{bare}/quota-changes"), &world.system, body).await.refused(409, "conflict");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grant_is_ended_once_and_a_plan_ends_with_it() {
    let world = World::start().await;
    let tenant = world.tenant("a", "5").await.id();
    let grants = format!("/tenants/{tenant}/grants");
    let gift = world.post(&grants, &world.system, json!({"kind": "gift", "amount": "1"})).await.expect(201).id();
    let end = |id: &str| format!("/grants/{id}/end");
    let ended = world.post_with_key(&end(&gift), &world.system, json!({"reason": "over"}), "k").await.expect(200).body;
    assert_eq!((&ended["status"], &ended["in_force"]), (&json!("ended"), &json!(true)));
    assert_eq!(three(&ended["quota"])[0], "5.00000000");
    let again = world.post_with_key(&end(&gift), &world.system, json!({"reason": "over"}), "k").await.expect(200).body;
    assert_eq!(again["id"], ended["id"]);
    world.post(&end(&gift), &world.system, json!({"reason": "over"})).await.refused(409, "conflict");
    let body = json!({"kind": "plan", "amount": "1", "renews_at": "2100-01-01T00:00:00Z"});
    world.post(&grants, &world.system, body.clone()).await.refused(409, "conflict");
    let plan = world.get(&grants, &world.system).await.expect(200).body["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|grant| grant["kind"] == "plan")
        .unwrap()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    world.post(&end(&plan), &world.system, json!({"reason": "over"})).await.expect(200);
    assert_eq!(world.database.value("SELECT count(*) FROM plans").await.unwrap(), json!(0));
    let quota = world.post(&grants, &world.system, body).await.expect(201).body["quota"].clone();
    assert_eq!((three(&quota)[0], &quota["resets_at"]), ("1.00000000", &json!("2100-01-01T00:00:00Z")));
}

/// Case 33: the same instant wherever it is shown.
#[tokio::test(flavor = "multi_thread")]
async fn a_plan_renews_by_the_tenants_calendar() {
    let world = World::start().await;
    for zone in ["Asia/Shanghai", "America/New_York", "Asia/Kathmandu"] {
        let body = json!({"name": zone, "time_zone": zone, "period": {"kind": "month", "anchor": 31}, "plan": {"amount": "5"}});
        let created = world.post("/tenants", &world.system, body).await.expect(201);
        let cycle = Cycle::new(PeriodKind::Month, Some(31)).unwrap();
        let end = cycle.current(&Zone::parse(zone).unwrap(), Timestamp::now()).end;
        let at = |value: &Value| value.as_str().unwrap().parse::<Timestamp>().unwrap();
        assert_eq!(at(&created.body["quota"]["resets_at"]), end, "{zone}");
        let path = format!("/tenants/{}", created.id());
        let grants = world.get(&format!("{path}/grants"), &world.system).await.expect(200).body;
        assert_eq!(at(&grants["items"][0]["ends_at"]), end);
        let moved = world.patch(&path, &world.system, "*", json!({"time_zone": "UTC"})).await.expect(200).body;
        let in_utc = Zone::utc().same_civil_time(&Zone::parse(zone).unwrap(), end);
        assert_eq!((at(&moved["quota"]["resets_at"]), &moved["time_zone"]), (in_utc, &json!("UTC")));
    }
    let past = json!({"name": "a", "plan": {"amount": "5", "renews_at": "2020-01-01T00:00:00Z"}});
    world.post("/tenants", &world.system, past).await.refused_field("plan.renews_at", "out_of_range");
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_reach_the_account() {
    let world = World::start().await;
    let settings = json!({"overdraft": {"enabled": true}, "thresholds": [80, 50], "settle_tolerance": "0.1"});
    let body = json!({"name": "a", "plan": {"amount": "10"}, "settings": settings});
    let created = world.post("/tenants", &world.system, body).await.expect(201);
    assert_eq!(created.body["settings"]["thresholds"], json!([50, 80]));
    assert_eq!(created.body["settings"]["settle_tolerance"], "0.1");
    assert_eq!(created.body["settings"]["overdraft"], json!({"enabled": true, "limit": null, "percent": 20}));
    assert_eq!(created.body["quota"]["overdraft"]["limit"], "2.00000000");
    let path = format!("/tenants/{}", created.id());
    let gift = json!({"kind": "gift", "amount": "10"});
    let topped = world.post(&format!("{path}/grants"), &world.system, gift).await.expect(201).body;
    assert_eq!(topped["quota"]["overdraft"]["limit"], "4.00000000", "a percentage follows the total");
    let settings = json!({"overdraft": {"enabled": true, "percent": 5}, "thresholds": []});
    let changed = world.patch(&path, &world.system, "*", json!({"settings": settings})).await.expect(200).body;
    assert_eq!(changed["quota"]["overdraft"]["limit"], "1.00000000");
    assert_eq!(changed["settings"]["thresholds"], json!([]));
    let bad = json!({"settings": {"thresholds": [0, 101]}});
    world.patch(&path, &world.system, "*", bad).await.refused_field("settings.thresholds", "out_of_range");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_changes_at_once_do_not_wait_for_each_others_connections() {
    let world = std::sync::Arc::new(World::start().await);
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..30 {
        let tenant = world.tenant(&format!("t{number}"), "5").await.id();
        let world = std::sync::Arc::clone(&world);
        calls.spawn(async move {
            let body = json!({"delta": "-0.01", "reason": "r"});
            world.post(&format!("/tenants/{tenant}/quota-changes"), &world.system, body).await.status.as_u16()
        });
    }
    assert_eq!(calls.join_all().await, [201; 30]);
}
