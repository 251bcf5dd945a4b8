//! Sums of usage, their exports, and usage from outside.

use domain::record::Outcome;
use domain::{Amount, Usage};
use serde_json::{Value, json};
use store::usage::Refusal;

use crate::bodies;
use crate::spend::{Payer, book};
use crate::world::World;

/// Recorded by the service's code: two models, a roll back, an expired request with its late correction.
async fn world_with_usage() -> (World, Payer, Payer) {
    let world = World::start().await;
    let a = Payer::make(&world, "a", "50").await;
    let b = Payer::make(&world, "b", "50").await;
    let usage = Usage { cached_input: 4, reasoning: 3, ..Usage::of_tokens(6, 2) };
    book(&world, &a.row("fast", Outcome::Final, 100_000_001, usage)).await;
    book(&world, &a.row("fast", Outcome::Final, 2, usage)).await;
    book(&world, &a.row("slow", Outcome::RolledBack, 0, Usage::default())).await;
    book(&world, &b.row("fast", Outcome::Final, 7, usage)).await;
    let mut row = a.row("slow", Outcome::Expired, 30, Usage::default());
    book(&world, &row).await;
    row.outcome = Outcome::Final;
    row.amount = Amount::new(50).unwrap();
    (row.record.usage, row.record.estimated) = (usage, false);
    // Replayed: a correction counts once.
    book(&world, &row).await;
    book(&world, &row).await;
    (world, a, b)
}

fn charges(page: &Value, field: &str) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or("null").to_owned();
    page["items"].as_array().unwrap().iter().map(|item| (text(&item[field]), text(&item["charge"]))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn sums_are_exact_by_whatever_is_asked() {
    let (world, a, b) = world_with_usage().await;
    let get = async |query: &str| world.get(&format!("/usage?{query}"), &world.system).await.expect(200).body;
    let all = get("bucket=month").await;
    assert_eq!(charges(&all, "model"), [("null".to_owned(), "1.00000060".to_owned())], "{all}");
    let sum = &all["items"][0];
    assert_eq!((&sum["requests"], &sum["refunded"], &sum["estimated"]), (&json!(5), &json!("0.00000500"), &json!(1)));
    assert_eq!(
        (&sum["prompt_tokens"], &sum["cached_tokens"], &sum["completion_tokens"]),
        (&json!(40), &json!(16), &json!(20))
    );
    let by_model = get(&format!("tenant_id={}&group_by=model&tz=Asia/Kathmandu", a.tenant)).await;
    let expected = [("fast", "1.00000003"), ("slow", "0.00000050")].map(|(m, c)| (m.to_owned(), c.to_owned()));
    assert_eq!(charges(&by_model, "model"), expected);
    let from = by_model["from"].as_str().unwrap();
    assert!(from.ends_with("T18:15:00Z"), "midnight in Kathmandu: {from}");
    // What was refused stands beside it, in a row of its own where nothing else was used.
    let refusal = Refusal {
        tenant_id: a.tenant,
        project_id: a.project,
        key_id: a.key,
        model: "slow".to_owned(),
        reason: "rpm".to_owned(),
    };
    let mut connection = world.store.acquire().await.unwrap();
    store::usage::refuse(&mut connection, &refusal, 3).await.unwrap();
    let by_key = get(&format!("bucket=hour&group_by=tenant,key,model&model=slow&key_id={}", a.key)).await;
    let slow = &by_key["items"][0];
    assert_eq!((&slow["refused"], &slow["requests"], &slow["key_id"]), (&json!(3), &json!(2), &json!(a.key)));
    // Pages.
    let first = get("group_by=tenant,model&limit=1").await;
    let rest = get(&format!("group_by=tenant,model&cursor={}", first["next_cursor"].as_str().unwrap())).await;
    assert_eq!(first["items"].as_array().unwrap().len() + rest["items"].as_array().unwrap().len(), 3);
    assert_eq!(rest["next_cursor"], Value::Null);
    // Own usage alone.
    let viewer = world.signed_in("tenant_viewer", Some(b.tenant)).await;
    let own = world.get("/usage?bucket=month", &viewer).await.expect(200).body;
    assert_eq!(charges(&own, "model")[0].1, "0.00000007");
    world.get(&format!("/usage?tenant_id={}", a.tenant), &viewer).await.refused(404, "not_found");
    for (query, field) in [
        ("bucket=week", "bucket"),
        ("group_by=tenant,team", "group_by"),
        ("tz=Mars/Olympus", "tz"),
        ("from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z", "to"),
        ("bucket=hour&from=2020-01-01T00:00:00Z", "to"),
        ("limit=0", "limit"),
        ("cursor=eA", "cursor"),
    ] {
        world.get(&format!("/usage?{query}"), &world.system).await.refused_field(
            field,
            match field {
                "limit" | "to" => "out_of_range",
                _ => "invalid",
            },
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn exports_hold_every_row_once() {
    let (world, a, _) = world_with_usage().await;
    let get = async |path: &str| {
        let answer = world.get(path, &world.system).await.expect(200);
        let kind = answer.headers["content-type"].to_str().unwrap().to_owned();
        let text = answer.body.as_str().map_or_else(|| format!("{}\n", answer.body), str::to_owned);
        (kind, text)
    };
    let (kind, csv) = get("/usage/export?group_by=tenant,model").await;
    assert_eq!(kind, "text/csv; charset=utf-8");
    assert!(csv.starts_with("bucket,tenant_id,project_id,key_id,model,unit,requests,"), "{csv}");
    assert_eq!(csv.lines().count(), 4, "{csv}");
    assert!(csv.contains(&format!(",{},,,fast,credit,2,0,20,8,10,1.00000003,", a.tenant)), "{csv}");
    // More than a page of requests, one of them with an id that a spreadsheet would take for a formula.
    let sql = format!(
        "INSERT INTO usage_records (request_id, client_request_id, tenant_id, project_id, key_id, model, outcome, estimate, frozen, actual)
         SELECT overlay(uuid_v7_floor(now())::text placing lpad(to_hex(i), 12, '0') from 25)::uuid,
                CASE WHEN i = 7 THEN '=1+1,\"x' END, '{}', '{}', '{}', 'bulk', 'final', 0, 0, 0 FROM generate_series(1, 2500) i",
        a.tenant.uuid(),
        a.project.uuid(),
        a.key.uuid()
    );
    world.database.execute(&sql).await.unwrap();
    let (kind, lines) = get("/requests/export?model=bulk&format=jsonl").await;
    assert_eq!(kind, "application/jsonl");
    let ids: Vec<String> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["request_id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!((ids.len(), ids.is_sorted_by(|a, b| a > b)), (2500, true));
    let (_, csv) = get("/requests/export?model=bulk").await;
    assert_eq!(csv.lines().count(), 2501);
    assert!(csv.contains(",\"'=1+1,\"\"x\","), "a formula is put behind an apostrophe");
    let (_, none) = get("/requests/export?model=none").await;
    assert_eq!(none.lines().count(), 1);
    world.get("/requests/export?outcome=x", &world.system).await.refused_field("outcome", "invalid");
    world.get("/usage/export?format=xml", &world.system).await.refused_field("format", "invalid");
}

#[tokio::test(flavor = "multi_thread")]
async fn usage_from_outside_is_charged_once() {
    let world = World::start().await;
    let payer = Payer::make(&world, "a", "10").await;
    let model = world.post("/models", &world.system, bodies::model("fast")).await.expect(201).id();
    let price =
        json!({"input": "0.15", "cached_input": "0.075", "output": "0.60", "valid_from": "2026-01-01T00:00:00Z"});
    world.post(&format!("/models/{model}/prices"), &world.system, price).await.expect(201);
    let body = |reference: &str| {
        json!({"key_id": payer.key, "model": "fast", "usage": {"input": 600, "cached_input": 400, "output": 200},
               "reference": reference, "occurred_at": "2026-02-01T00:00:00Z"})
    };
    // The same call at once, with one idempotency key and with many.
    let same = (0..10).map(|_| world.post_with_key("/usage/ingest", &world.system, body("r-1"), "key-1"));
    let same = futures_util::future::join_all(same).await;
    let first = &same[0].body;
    assert_eq!((&first["charge"], &first["in_force"]), (&json!("0.00024000"), &json!(true)), "{first}");
    assert!(same.iter().all(|answer| answer.status == 201 && answer.body == *first));
    let others = (0..10).map(|_| world.post("/usage/ingest", &world.system, body("r-2")));
    let (made, refused): (Vec<_>, Vec<_>) =
        futures_util::future::join_all(others).await.into_iter().partition(|answer| answer.status == 201);
    assert_eq!((made.len(), refused.len()), (1, 9));
    for answer in refused {
        let answer = answer.refused(409, "already_exists");
        assert_eq!(answer.body["charged_request_id"], made[0].body["request_id"]);
    }
    let charge = json!({"key_id": payer.key, "model": "elsewhere", "charge": "11.00000001", "reference": "r-3",
                        "occurred_at": "2026-02-01T00:00:00Z"});
    let beyond = world.post("/usage/ingest", &world.system, charge).await.expect(201);
    // Booked in full, beyond the plan too.
    assert_eq!(beyond.body["quota"]["remaining"], "-1.00048001");
    let live = world.get(&format!("/tenants/{}/live", payer.tenant), &world.system).await.expect(200).body;
    let of_tenant = &live["scopes"][0];
    assert_eq!(
        (&of_tenant["difference"], &of_tenant["postgres"]["used"]),
        (&json!("equal"), &json!("11.00048001")),
        "{live}"
    );
    let path = beyond.headers["location"].to_str().unwrap().strip_prefix("/api/v1").unwrap().to_owned();
    let request = world.get(&path, &world.system).await.expect(200).body;
    assert_eq!((&request["client_request_id"], &request["charge"]), (&json!("r-3"), &json!("11.00000001")));
    let mut wrong = body("r-4");
    wrong["charge"] = json!("1");
    world.post("/usage/ingest", &world.system, wrong).await.refused_field("usage", "required");
    let mut unknown = body("r-5");
    unknown["model"] = json!("unknown");
    world.post("/usage/ingest", &world.system, unknown).await.refused_field("model", "not_priced");
    let mut early = body("r-6");
    early["occurred_at"] = json!("2999-01-01T00:00:00Z");
    world.post("/usage/ingest", &world.system, early).await.refused_field("occurred_at", "out_of_range");
}
