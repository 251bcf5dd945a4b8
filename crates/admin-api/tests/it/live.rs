//! Both copies of the books, running freezes, and an operator's repairs.

use std::time::Duration;

use domain::record::Outcome;
use domain::{Amount, PeriodLabel, RequestId, Scope, TenantId};
use quota::{Admission, Ask, Config, Freeze, Quota};
use serde_json::{Value, json};
use testkit::redis::Reply;

use crate::samples::Sample;
use crate::world::World;

async fn gateway(world: &World) -> Quota {
    let mut config = Config::new("gw-test".to_owned(), world.redis.url());
    config.recovery_wait = Duration::from_millis(300);
    config.beat_interval = Duration::from_millis(100);
    Quota::start(config, world.store.clone()).await.unwrap()
}

async fn freeze(quota: &Quota, sample: &Sample, units: i64) -> Freeze {
    let (project_id, key_id) = (sample.project.parse().unwrap(), sample.key.parse().unwrap());
    let tenant_id = sample.tenant_id();
    let ask = Ask {
        request_id: RequestId::generate(),
        tenant_id,
        project_id,
        key_id,
        scopes: vec![
            Scope::Key(key_id, PeriodLabel::none()),
            Scope::Project(project_id, PeriodLabel::none()),
            Scope::Tenant(tenant_id),
        ],
        want: Amount::new(units).unwrap(),
        need: Amount::new(units).unwrap(),
        tokens_want: 0,
        tokens_need: 0,
        model: "gpt".to_owned(),
        outage: Vec::new().into(),
    };
    match quota.admit(ask).await.unwrap() {
        Admission::Admitted(freeze) => freeze,
        other => panic!("{other:?}"),
    }
}

fn differences(live: &Value) -> Vec<&str> {
    live["scopes"].as_array().unwrap().iter().map(|scope| scope["difference"].as_str().unwrap()).collect()
}

async fn world_with_a_freeze() -> (World, Sample, Quota, Freeze) {
    let world = World::start().await;
    let sample = Sample::make(&world).await;
    let quota = gateway(&world).await;
    let freeze = freeze(&quota, &sample, 25_000_000).await;
    (world, sample, quota, freeze)
}

#[tokio::test(flavor = "multi_thread")]
async fn both_copies_and_the_freezes_are_shown() {
    let (world, sample, quota, freeze) = world_with_a_freeze().await;
    let live = world.get(&format!("/tenants/{}/live", sample.tenant), &world.system).await.expect(200).body;
    assert_eq!(differences(&live), ["equal", "equal", "equal"], "{live}");
    assert_eq!((&live["freezes"], &live["settled"]), (&json!(1), &json!(true)));
    let of_tenant = &live["scopes"][0];
    assert_eq!((&of_tenant["scope"], &of_tenant["halted"]), (&json!(sample.tenant), &json!(false)));
    for copy in ["redis", "postgres"] {
        assert_eq!(of_tenant[copy]["frozen"], "0.25000000", "{of_tenant}");
    }
    let freezes = world.get(&format!("/tenants/{}/freezes", sample.tenant), &world.system).await.expect(200).body;
    let item = &freezes["items"][0];
    assert_eq!(item["request_id"], freeze.request_id().to_string());
    assert_eq!(
        (&item["key_id"], &item["model"], &item["state"]),
        (&json!(sample.key), &json!("gpt"), &json!("active"))
    );
    assert_eq!((&item["amount"], &item["gateway"]), (&json!("0.25000000"), &json!("gw-test")));
    assert!(item["beat_age_ms"].as_i64().unwrap() < 5_000, "{item}");
    drop((freeze, quota));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_roll_back_gives_everything_back_and_a_late_charge_is_still_booked() {
    let (world, sample, quota, freeze) = world_with_a_freeze().await;
    let id = freeze.request_id();
    let path = format!("/tenants/{}/freezes/{id}/roll-back", sample.tenant);
    world.post(&path, &world.system, json!({"reason": " "})).await.refused_field("reason", "required");
    let unknown = format!("/tenants/{}/freezes/{}/roll-back", sample.tenant, RequestId::generate());
    world.post(&unknown, &world.system, json!({"reason": "stuck"})).await.refused(404, "not_found");
    let foreign = format!("/tenants/{}/freezes/{id}/roll-back", TenantId::generate());
    world.post(&foreign, &world.system, json!({"reason": "stuck"})).await.refused(404, "not_found");

    let numbers = || async {
        let quota = world.get(&format!("/tenants/{}/quota", sample.tenant), &world.system).await.expect(200).body;
        (quota["used"].clone(), quota["frozen"].clone())
    };
    let before = numbers().await;
    assert_eq!(before.1, "0.25000000");
    for _ in 0..2 {
        let reply = world.post(&path, &world.system, json!({"reason": "stuck"})).await.expect(200).body;
        assert_eq!(reply, json!({"request_id": id.to_string(), "outcome": "rolled_back", "given_back": "0.25000000"}));
    }
    let after = numbers().await;
    assert_eq!(after.0, before.0, "nothing is charged");

    // The call went on all the same, and reports what it used: one late correction.
    let record = quota_record(&sample, id);
    freeze.finish(Outcome::Final, Amount::new(7_000_000).unwrap(), record).recorded().await.unwrap();
    let request = world.get(&format!("/requests/{id}"), &world.system).await.expect(200).body;
    assert_eq!((&request["outcome"], &request["late"]), (&json!("final"), &json!(true)), "{request}");
    assert_eq!(request["charge"], "0.07000000");
    quota.shutdown(Duration::from_secs(5)).await;
    assert_eq!(numbers().await.1, "0.00000000");
}

fn quota_record(sample: &Sample, id: RequestId) -> domain::UsageRecord {
    domain::UsageRecord {
        request_id: id,
        client_request_id: None,
        tenant_id: sample.tenant_id(),
        project_id: sample.project.parse().unwrap(),
        key_id: sample.key.parse().unwrap(),
        model: "gpt".to_owned(),
        served_model: None,
        estimate: Amount::ZERO,
        frozen: Amount::new(25_000_000).unwrap(),
        extensions: 0,
        usage: domain::Usage::default(),
        attempts: Vec::new(),
        upstream_status: Some(200),
        estimated: false,
        overrun: false,
        started_at: None,
        frozen_at: None,
        first_byte_at: None,
        ended_at: None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_spoilt_copy_is_found_and_rebuilt_from_postgres() {
    let (world, sample, quota, running) = world_with_a_freeze().await;
    let account = world.redis.command(&["KEYS", &format!("tg:*:a:{}", sample.tenant)]).unwrap();
    let Reply::Array(keys) = account else { panic!("{account:?}") };
    let Some(Reply::Text(account)) = keys.into_iter().next() else { panic!("no account") };
    world.redis.command(&["HSET", &account, "used", "1", "frozen", "3"]).unwrap();
    let path = format!("/tenants/{}/rebuild", sample.tenant);
    let dry = world.post(&path, &world.system, json!({"dry_run": true})).await.expect(200).body;
    assert_eq!((differences(&dry["before"])[0], &dry["after"]), ("frozen_differs", &Value::Null), "{dry}");
    world.post(&path, &world.system, json!({"dry": true})).await.refused(422, "invalid_field");
    let viewer = world.signed_in("viewer", None).await;
    world.post(&path, &viewer, json!({})).await.refused(403, "forbidden");

    let done = world.post(&path, &world.system, json!({})).await.expect(200).body;
    assert_eq!(differences(&done["after"]), ["absent", "absent", "absent"], "{done}");
    // The next request waits for the window, loads, and finds both freezes.
    let next = freeze(&quota, &sample, 1_000_000).await;
    let live = world.get(&format!("/tenants/{}/live", sample.tenant), &world.system).await.expect(200).body;
    assert_eq!(differences(&live), ["equal", "equal", "equal"], "{live}");
    assert_eq!(live["scopes"][0]["redis"]["frozen"], "0.26000000");
    drop((running, next, quota));
}
