//! The whole platform: figures, services, settings, upstreams; and what ends for good.

use axum::routing::get;
use domain::record::Outcome;
use domain::{UpstreamId, Usage};
use serde_json::json;
use store::seal::Sealer;

use crate::bodies;
use crate::spend::{Payer, book};
use crate::world::{World, secret_key};

#[tokio::test(flavor = "multi_thread")]
async fn figures_services_and_settings() {
    let world = World::start().await;
    let payer = Payer::make(&world, "dry", "1").await;
    world.tenant("full", "1").await;
    book(&world, &payer.row("fast", Outcome::Final, 90_000_000, Usage::of_tokens(5, 5))).await;
    let viewer = world.signed_in("viewer", None).await;
    let overview = world.get("/overview", &viewer).await.expect(200).body;
    assert_eq!((&overview["tenants"], &overview["freezes"]), (&json!(2), &json!(0)), "{overview}");
    assert_eq!(overview["hours"][0]["charge"], "0.90000000");
    let driest = &overview["driest"][0];
    assert_eq!((&driest["name"], &driest["remaining_percent"]), (&json!("dry"), &json!(10)));

    let mut connection = world.store.acquire().await.unwrap();
    let health = json!({});
    store::reports::report(&mut connection, "gw-1", "gateway", "0.1.0", &health).await.unwrap();
    store::reports::report(&mut connection, "gw-2", "gateway", "0.1.0", &health).await.unwrap();
    let late = "UPDATE service_reports SET at = now() - interval '2 minutes' WHERE id = 'gw-2'";
    world.database.execute(late).await.unwrap();
    let system = world.get("/system", &viewer).await.expect(200).body;
    let states: Vec<_> = system["services"].as_array().unwrap().iter().map(|of| (&of["name"], &of["state"])).collect();
    let (gateway, up, silent) = (json!("gateway"), json!("up"), json!("silent"));
    assert_eq!(states, [(&json!("admin_api"), &up), (&gateway, &up), (&gateway, &silent)]);
    assert_eq!((&system["redis"]["state"], &system["postgres"]["state"]), (&up, &up), "{system}");
    assert!(system["redis"]["version"].is_string());

    let owner = world.signed_in("owner", None).await;
    let etag = world.get("/settings", &viewer).await.expect(200).headers["etag"].to_str().unwrap().to_owned();
    let change = json!({"mail_from": "T <t@example.com>", "retention": {"usage_records_days": 30, "events_days": null},
                        "defaults": {"time_zone": "Asia/Shanghai", "thresholds": [95, 50]}});
    let changed = world.patch("/settings", &owner, &etag, change).await.expect(200).body;
    assert_eq!(changed["retention"], json!({"usage_records_days": 30, "events_days": null, "snapshots_days": 90}));
    world.patch("/settings", &owner, &etag, json!({})).await.refused(412, "precondition_failed");
    world.patch("/settings", &viewer, "*", json!({})).await.refused(403, "forbidden");
    let wrong = json!({"mail_from": "nobody", "retention": {"events_days": 1, "snapshots_days": 0}});
    let refused = world.patch("/settings", &owner, "*", wrong).await;
    refused
        .refused_field("mail_from", "invalid")
        .refused_field("retention.events_days", "out_of_range")
        .refused_field("retention.snapshots_days", "out_of_range");
    // New tenants take the defaults, unless they bring their own.
    let tenant = world.post("/tenants", &world.system, json!({"name": "new"})).await.expect(201).body;
    assert_eq!((&tenant["time_zone"], &tenant["settings"]["thresholds"]), (&json!("Asia/Shanghai"), &json!([50, 95])));
    let own = json!({"name": "own", "time_zone": "UTC", "settings": {"thresholds": [100]}});
    let tenant = world.post("/tenants", &world.system, own).await.expect(201).body;
    assert_eq!((&tenant["time_zone"], &tenant["settings"]["thresholds"]), (&json!("UTC"), &json!([100])));
}

#[tokio::test(flavor = "multi_thread")]
async fn upstreams_are_tested_sealed_anew_and_seen_as_gateways_see_them() {
    let sealing = domain::api_key::SecretKey::from_bytes(*b"ABCDEFGHIJKLMNOPQRSTUVWXYZ012345").to_base64();
    let world = World::start_with(&["--sealing-keys", &sealing]).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let models = get(|headers: http::HeaderMap| async move {
        let good = headers.get("authorization").is_some_and(|value| value == "Bearer sk-test-0123456789abcdef");
        if good { http::StatusCode::OK } else { http::StatusCode::UNAUTHORIZED }
    });
    tokio::spawn(async move { axum::serve(listener, axum::Router::new().route("/v1/models", models)).await });
    let mut body = bodies::upstream("u");
    body["base_url"] = json!(format!("http://{address}"));
    let id = world.post("/upstreams", &world.system, body).await.expect(201).id();
    let path = format!("/upstreams/{id}");
    let test = async || world.post(&format!("{path}/test"), &world.system, json!({})).await.expect(200).body;
    let well = test().await;
    assert_eq!((&well["ok"], &well["status"], &well["error"]), (&json!(true), &json!(200), &json!(null)));

    // Sealed before the sealing key was set: it opens, and is sealed anew once.
    let uuid = id.parse::<UpstreamId>().unwrap().uuid();
    let sealed = Sealer::new(&secret_key()).seal(&id, "sk-test-0123456789abcdef").unwrap();
    let hex: String = sealed.iter().map(|byte| format!("{byte:02x}")).collect();
    world.database.execute(&format!("UPDATE upstreams SET sealed_key = '\\x{hex}' WHERE id = '{uuid}'")).await.unwrap();
    assert_eq!(test().await["ok"], true);
    let owner = world.signed_in("owner", None).await;
    for rewrapped in [1, 0] {
        let reply = world.post("/upstreams/rewrap-keys", &owner, json!({})).await.expect(200).body;
        assert_eq!(reply, json!({"rewrapped": rewrapped, "left": 0}));
    }
    let still = world.database.value(&format!("SELECT sealed_key = '\\x{hex}' FROM upstreams")).await.unwrap();
    assert_eq!((still, &test().await["ok"]), (json!(false), &json!(true)));

    world.patch(&path, &world.system, "*", json!({"api_key": "sk-wrong"})).await.expect(200);
    let refused = test().await;
    assert_eq!((&refused["ok"], &refused["status"]), (&json!(false), &json!(401)), "{refused}");
    world.patch(&path, &world.system, "*", json!({"base_url": "http://127.0.0.1:1"})).await.expect(200);
    let gone = test().await;
    assert_eq!((&gone["ok"], &gone["status"]), (&json!(false), &json!(null)), "{gone}");

    let model = world.post("/models", &world.system, bodies::model("m")).await.expect(201).id();
    let target = json!({"upstream_id": id, "upstream_model": "gpt"});
    let target = world.post(&format!("/models/{model}/targets"), &world.system, target).await.expect(201).id();
    let targets = format!("/models/{model}/targets");
    let seen = async |health: serde_json::Value| {
        let mut connection = world.store.acquire().await.unwrap();
        store::reports::report(&mut connection, "gw-1", "gateway", "0.1.0", &health).await.unwrap();
        let upstream = world.get(&path, &world.system).await.expect(200).body;
        let targets = world.get(&targets, &world.system).await.expect(200).body;
        (upstream["health"].clone(), upstream["parked_until"].clone(), targets["items"][0]["health"].clone())
    };
    let until = "2999-01-01T00:00:00Z";
    let ejected = json!({"targets": {&target: until}, "ejected": {&id: until}, "parked": {}});
    assert_eq!(seen(ejected).await, (json!("ejected"), json!(null), json!("ejected")));
    let parked = json!({"targets": {}, "ejected": {}, "parked": {&id: until}});
    assert_eq!(seen(parked).await, (json!("parked"), json!(until), json!("parked")));
    let over = json!({"targets": {&target: "2020-01-01T00:00:00Z"}});
    assert_eq!(seen(over).await, (json!("well"), json!(null), json!("well")));
}

#[tokio::test(flavor = "multi_thread")]
async fn tenants_close_and_projects_are_archived_for_good() {
    let world = World::start().await;
    let payer = Payer::make(&world, "a", "1").await;
    let path = format!("/tenants/{}", payer.tenant);
    let archive = format!("/projects/{}/archive", payer.project);
    for _ in 0..2 {
        let project = world.post(&archive, &world.system, json!({})).await.expect(200).body;
        assert_eq!((&project["status"], &project["in_force"]), (&json!("archived"), &json!(true)));
    }
    book(&world, &payer.row("fast", Outcome::Final, 150_000_000, Usage::default())).await;
    let why = json!({"reason": "left"});
    let owes = world.post(&format!("{path}/close"), &world.system, why.clone()).await.refused(409, "conflict");
    assert_eq!(owes.body["quota"]["remaining"], "-0.50000000", "{}", owes.body);
    world.post(&format!("{path}/grants"), &world.system, json!({"kind": "gift", "amount": "0.5"})).await.expect(201);
    for _ in 0..2 {
        let closed = world.post(&format!("{path}/close"), &world.system, why.clone()).await;
        if closed.status == 200 {
            assert_eq!((&closed.body["status"], &closed.body["in_force"]), (&json!("closed"), &json!(true)));
        } else {
            closed.refused(409, "conflict");
        }
    }
    assert_eq!(world.get(&path, &world.system).await.expect(200).body["status"], "closed");
    world.post(&format!("{path}/resume"), &world.system, why).await.refused(409, "conflict");
    let ingest = json!({"key_id": payer.key, "model": "m", "charge": "1", "reference": "r", "occurred_at": "2026-01-01T00:00:00Z"});
    world.post("/usage/ingest", &world.system, ingest).await.refused(409, "conflict");
}
