//! Alerts, comparisons and what they saw, as callers see them.

use domain::record::Outcome;
use domain::{TenantId, Usage};
use serde_json::{Value, json};

use crate::samples::alert;
use crate::spend::{Payer, book};
use crate::world::World;

fn ids(page: &Value) -> Vec<&str> {
    page["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn alerts_are_listed_by_state_and_grade_and_acknowledged() {
    let world = World::start().await;
    let tenants: [TenantId; 2] =
        [world.tenant("a", "1").await.id().parse().unwrap(), world.tenant("b", "1").await.id().parse().unwrap()];
    let urgent = alert(&world, tenants[0], "urgent", "beyond_limit").await;
    let hint = alert(&world, tenants[0], "hint", "plan_too_large").await;
    let past = alert(&world, tenants[1], "warning", "near_threshold").await;
    world.database.execute("UPDATE alerts SET closed_at = now() WHERE grade = 'warning'").await.unwrap();
    let (viewer, operator) = (world.signed_in("viewer", None).await, world.signed_in("operator", None).await);
    let list = async |query: &str, who| world.get(&format!("/alerts?{query}"), who).await.expect(200).body;
    for (query, expected) in [
        ("", vec![&past, &hint, &urgent]),
        ("state=open", vec![&hint, &urgent]),
        ("state=past", vec![&past]),
        ("grade=urgent", vec![&urgent]),
        ("state=open&grade=warning", vec![]),
    ] {
        assert_eq!(ids(&list(query, &viewer).await), expected, "{query}");
    }
    let query = format!("tenant_id={}", tenants[1]);
    assert_eq!(ids(&list(&query, &viewer).await), [&past]);
    let first = list("limit=2", &viewer).await;
    let rest = list(&format!("limit=2&cursor={}", first["next_cursor"].as_str().unwrap()), &viewer).await;
    assert_eq!((ids(&first), ids(&rest)), (vec![past.as_str(), hint.as_str()], vec![urgent.as_str()]));
    assert_eq!(rest["next_cursor"], json!(null));
    world.get("/alerts?state=closed", &viewer).await.refused_field("state", "invalid");

    let shown = &rest["items"][0];
    assert_eq!((&shown["kind"], &shown["scope"]), (&json!("beyond_limit"), &json!(tenants[0])), "{shown}");
    let numbers = &shown["numbers"];
    assert_eq!(
        (&numbers["total"], &numbers["remaining"], &numbers["refunded"], &numbers["version"]),
        (&json!("1.00000000"), &json!("-0.10000000"), &json!("0.00000005"), &json!(7)),
        "{numbers}"
    );
    assert_eq!(
        shown["trend"],
        json!({"last_hour": "0.00000001", "day_before": "0.00000024", "same_hour_before": "0.00000000", "week": null})
    );
    // A tenant's people see their own, and nobody else's.
    let owner = world.signed_in("tenant_owner", Some(tenants[1])).await;
    assert_eq!(ids(&list("", &owner).await), [&past]);
    world.get(&format!("/alerts?tenant_id={}", tenants[0]), &owner).await.refused(404, "not_found");

    let path = format!("/alerts/{urgent}/acknowledge");
    world.post(&path, &viewer, json!({"note": "x"})).await.refused(403, "forbidden");
    world.post(&path, &operator, json!({"note": "x".repeat(1001)})).await.refused_field("note", "too_long");
    let unknown = format!("/alerts/{}/acknowledge", domain::AlertId::generate());
    world.post(&unknown, &operator, json!({})).await.refused(404, "not_found");
    let known = world.post(&path, &operator, json!({"note": "grant ordered"})).await.expect(200).body;
    assert_eq!((&known["note"], &known["closed_at"]), (&json!("grant ordered"), &json!(null)), "it still holds");
    assert!(known["acknowledged_by"].as_str().unwrap().starts_with("usr_") && known["acknowledged_at"].is_string());
    assert_eq!(list("grade=urgent", &viewer).await["items"][0], known);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_comparison_by_hand_looks_then_acts_and_is_listed() {
    let world = World::start().await;
    let payer = Payer::make(&world, "a", "1").await;
    let other = Payer::make(&world, "b", "1").await;
    book(&world, &payer.row("m", Outcome::Final, 95_000_000, Usage::default())).await;
    book(&world, &other.row("m", Outcome::Final, 10_000_000, Usage::default())).await;
    let viewer = world.signed_in("viewer", None).await;
    world.post("/reconciliations", &viewer, json!({})).await.refused(403, "forbidden");
    let unknown = json!({"tenant_id": TenantId::generate()});
    world.post("/reconciliations", &world.system, unknown).await.refused(404, "not_found");

    let dry = json!({"tenant_id": payer.tenant, "dry_run": true});
    let dry = world.post("/reconciliations", &world.system, dry).await.expect(201).body;
    let counts =
        |of: &Value| [&of["accounts"], &of["differences"], &of["repaired"], &of["alerts"]].map(|n| n.as_i64().unwrap());
    assert_eq!((counts(&dry), &dry["state"]), ([3, 0, 0, 1], &json!("done")), "{dry}");
    assert_eq!(world.get("/alerts", &viewer).await.expect(200).body["items"], json!([]), "it only looked");
    assert_eq!(world.get("/snapshots", &viewer).await.expect(200).body["items"], json!([]));

    let done = world.post("/reconciliations", &world.system, json!({})).await.expect(201).body;
    assert_eq!((counts(&done), &done["state"], &done["tenant_id"]), ([6, 0, 0, 1], &json!("done"), &json!(null)));
    assert!(done["by"].as_str().unwrap().starts_with("st_") && done["ended_at"].is_string(), "{done}");
    let alerts = world.get("/alerts?state=open", &viewer).await.expect(200).body;
    let open = &alerts["items"][0];
    assert_eq!((&open["kind"], &open["tenant_id"]), (&json!("near_threshold"), &json!(payer.tenant)), "{alerts}");
    assert_eq!((&open["numbers"]["used"], &open["trend"]["week"]), (&json!("0.95000000"), &json!(null)));

    let listed = world.get("/reconciliations", &viewer).await.expect(200).body;
    assert_eq!(listed["items"], json!([done, dry]));
    let page = world.get("/reconciliations?limit=1", &viewer).await.expect(200).body;
    let next = format!("/reconciliations?limit=1&cursor={}", page["next_cursor"].as_str().unwrap());
    assert_eq!(ids(&world.get(&next, &viewer).await.expect(200).body), [dry["id"].as_str().unwrap()]);

    let snapshots = async |query: String| world.get(&format!("/snapshots?{query}"), &viewer).await.expect(200).body;
    let of_tenant = snapshots(format!("tenant_id={}", payer.tenant)).await;
    assert_eq!(of_tenant["items"].as_array().unwrap().len(), 3, "{of_tenant}");
    let own = snapshots(format!("scope={}&from=2020-01-01T00:00:00Z", payer.tenant)).await;
    let [own] = own["items"].as_array().unwrap().as_slice() else { panic!("{own}") };
    assert_eq!(
        (&own["total"], &own["used"], &own["spent"]),
        (&json!("1.00000000"), &json!("0.95000000"), &json!("0.95000000"))
    );
    assert_eq!(
        (&own["frozen"], &own["remaining"], &own["difference"]),
        (&json!("0.00000000"), &json!("0.05000000"), &json!("behind"))
    );
    assert_eq!(snapshots("to=2020-01-01T00:00:00Z".to_owned()).await["items"], json!([]));
    let mut seen = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = snapshots(format!("limit=4{cursor}")).await;
        seen.extend(page["items"].as_array().unwrap().iter().map(|item| item["scope"].as_str().unwrap().to_owned()));
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 6, "each once: {seen:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_add_up_is_halted_and_resumed_by_a_person() {
    let world = World::start().await;
    let payer = Payer::make(&world, "a", "1").await;
    book(&world, &payer.row("m", Outcome::Final, 10_000_000, Usage::default())).await;
    world.database.execute("UPDATE accounts SET used = used + 1 WHERE level <> 'tenant'").await.unwrap();
    let compare = async || {
        let compared = world.post("/reconciliations", &world.system, json!({"tenant_id": payer.tenant})).await;
        compared.expect(201).body["differences"].clone()
    };
    let status = async || {
        let sql = "SELECT jsonb_agg(status ORDER BY scope) FROM accounts";
        world.database.value(sql).await.unwrap()
    };
    assert_eq!(compare().await, 2);
    assert_eq!(status().await, json!(["halted", "halted", "active"]));
    let live = world.get(&format!("/tenants/{}/live", payer.tenant), &world.system).await.expect(200).body;
    let halted = live["scopes"].as_array().unwrap().iter().filter(|scope| scope["halted"] == true).count();
    assert_eq!(halted, 2, "{live}");
    world
        .database
        .execute("UPDATE accounts SET used = used - 1, version = version + 1 WHERE level <> 'tenant'")
        .await
        .unwrap();
    let alerts = async || {
        let alerts = world.get("/alerts?state=open", &world.signed_in("viewer", None).await).await.expect(200).body;
        let of = |alert: &Value| (alert["kind"].clone(), alert["remedy"].as_str().unwrap().contains("add up again"));
        alerts["items"].as_array().unwrap().iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(alerts().await, vec![(json!("sums_differ"), false); 2]);
    assert_eq!(compare().await, 0);
    assert_eq!(alerts().await, vec![(json!("sums_differ"), true); 2], "mended, and still halted");
    let resume = format!("/tenants/{}/resume", payer.tenant);
    let resumed = world.post(&resume, &world.system, json!({"reason": "corrected"})).await.expect(200).body;
    assert_eq!((&resumed["status"], &resumed["in_force"]), (&json!("active"), &json!(true)));
    assert_eq!(status().await, json!(["active", "active", "active"]));
    assert_eq!((compare().await, alerts().await), (json!(0), vec![]));
    let audited = "SELECT jsonb_agg(action ORDER BY id) FROM audit_log WHERE action ~ '^ledger.halt|resume'";
    assert_eq!(world.database.value(audited).await.unwrap(), json!(["ledger.halt", "ledger.halt", "tenant.resume"]));
}
