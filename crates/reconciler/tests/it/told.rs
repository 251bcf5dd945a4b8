//! What is told of a quota beyond its thresholds: used up, there again, overdraft in use and used up, grants that end soon.
//! Each once, whoever settles at the same time, until a top-up or a new period arms it.

use std::time::Duration;

use domain::Scope;
use quota::Quota;
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::life::config;
use crate::receiver::{Receiver, Setup, endpoint};
use crate::thresholds::spend;
use crate::world::{Tenant, World, amount, grant};

/// Type and level of every event so far but `quota.low`, oldest first.
async fn told(world: &World, tenant: &Tenant) -> Vec<(String, String)> {
    let rows = world
        .database
        .rows(&format!(
            "SELECT type, coalesce(data -> 'scope' ->> 'kind', '') AS kind FROM outbox
             WHERE tenant_id = '{}' AND type <> 'quota.low' ORDER BY id",
            tenant.id.uuid()
        ))
        .await
        .unwrap();
    rows.iter()
        .map(|row| (row["type"].as_str().unwrap().to_owned(), row["kind"].as_str().unwrap().to_owned()))
        .collect()
}

fn of_tenant(kinds: &[&str]) -> Vec<(String, String)> {
    kinds.iter().map(|kind| ((*kind).to_owned(), "tenant".to_owned())).collect()
}

/// An endpoint that is told of everything here.
async fn listen(world: &World, tenant: &Tenant, receiver: &Receiver) {
    endpoint(world, Some(tenant.id), &receiver.url("/ok")).await;
    let types = "'{quota.low,quota.exhausted,quota.restored,overdraft.started,overdraft.exhausted,grant.expiring}'";
    world.database.execute(&format!("UPDATE webhook_endpoints SET event_types = {types}")).await.unwrap();
}

async fn change(world: &World, scope: &Scope, change: store::accounts::Change) {
    let mut transaction = world.store.begin().await.unwrap();
    store::accounts::change(&mut transaction, scope, &change).await.unwrap();
    transaction.commit().await.unwrap();
}

async fn gateways(world: &World) -> [Quota; 2] {
    [
        Quota::start(config(world), world.store.clone()).await.unwrap(),
        Quota::start(config(world), world.store.clone()).await.unwrap(),
    ]
}

async fn end(gateways: [Quota; 2]) {
    for gateway in gateways {
        gateway.shutdown(Duration::from_secs(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_quota_that_is_used_up_and_there_again_is_told_once_each() {
    let world = World::start().await;
    let tenant = world.tenant_with(1_000, Some(500), None).await;
    world.open(&tenant).await;
    let gateways = gateways(&world).await;
    spend(&gateways, &tenant, 49, 10).await;
    assert_eq!(told(&world, &tenant).await, []);
    spend(&gateways, &tenant, 1, 10).await;
    let project = ("quota.exhausted".to_owned(), "project".to_owned());
    assert_eq!(told(&world, &tenant).await, std::slice::from_ref(&project));
    // A larger budget arms the project; what it says is that the quota is there again.
    let budget = store::accounts::Change { budget: Some(Some(amount(2_000))), ..Default::default() };
    change(&world, &tenant.scopes[1], budget).await;
    let restored = ("quota.restored".to_owned(), "project".to_owned());
    assert_eq!(told(&world, &tenant).await, [project.clone(), restored.clone()]);
    assert!(gateways[0].push(tenant.id, &tenant.scopes).await.unwrap().in_force);
    spend(&gateways, &tenant, 50, 10).await;
    let mut expected = vec![project, restored];
    expected.extend(of_tenant(&["quota.exhausted"]));
    assert_eq!(told(&world, &tenant).await, expected);
    world.top_up(&tenant, 1_000).await;
    assert!(gateways[0].push(tenant.id, &tenant.scopes).await.unwrap().in_force);
    spend(&gateways, &tenant, 100, 10).await;
    expected.extend(of_tenant(&["quota.restored", "quota.exhausted"]));
    expected.push(("quota.exhausted".to_owned(), "project".to_owned()));
    let mut found = told(&world, &tenant).await;
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    end(gateways).await;
    world.assert_books(&tenant).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_settlements_at_once_tell_of_an_overdraft_once_and_what_led_to_it() {
    let world = World::start().await;
    let tenant = world.tenant(1_000).await;
    world.open(&tenant).await;
    let overdraft = store::accounts::Change { overdraft_limit: Some((amount(1_000), None)), ..Default::default() };
    change(&world, &tenant.scopes[2], overdraft).await;
    let receiver = Receiver::start().await;
    listen(&world, &tenant, &receiver).await;
    let gateways = gateways(&world).await;
    spend(&gateways, &tenant, 200, 10).await;
    let expected = of_tenant(&["quota.exhausted", "overdraft.started", "overdraft.exhausted"]);
    assert_eq!(told(&world, &tenant).await, expected);
    let _stop = Setup::default().start(&world);
    // Two thresholds, and these three.
    let seen = receiver.wait("/ok", 5, Duration::from_secs(10)).await;
    let body = seen.iter().map(|one| one.json()).find(|body| body["type"] == "overdraft.exhausted").unwrap();
    let hours = body["data"]["last_24_h"].as_array().unwrap();
    let calls: i64 = hours.iter().map(|hour| hour["calls"].as_i64().unwrap()).sum();
    assert_eq!((calls, hours.len() <= 2), (200, true), "{body}");
    if let [hour] = hours.as_slice() {
        assert_eq!(hour["charge"], "0.00002000");
    }
    assert_eq!(body["data"]["quota"]["overdraft"]["used"], "0.00001000", "{body}");
    // What is paid back is told, and a second time round everything is told again.
    world.top_up(&tenant, 2_000).await;
    assert!(gateways[0].push(tenant.id, &tenant.scopes).await.unwrap().in_force);
    spend(&gateways, &tenant, 200, 10).await;
    let mut twice = expected.clone();
    twice.extend(of_tenant(&["quota.restored"]));
    twice.extend(expected);
    assert_eq!(told(&world, &tenant).await, twice);
    end(gateways).await;
    world.assert_books(&tenant).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_grant_that_ends_soon_is_told_once_with_what_is_left() {
    let world = World::start().await;
    let tenant = world.tenant(0).await;
    world.open(&tenant).await;
    let (hour, now) = (time::Duration::HOUR, OffsetDateTime::now_utc());
    let mut ids = Vec::new();
    // How long it has been in force, and for how long it still is: the first has time, the last has lived less than half.
    for (lived, left) in [(1, 240), (120, 48), (24, 12), (0, 1)] {
        let (starts_at, ends_at) = (Some(now - hour * lived), Some(now + hour * left));
        let kind = "temporary".to_owned();
        let given = store::grants::NewGrant { kind, starts_at, ends_at, ..grant(&tenant, 100_000_000) };
        ids.push(given.id);
        world.give(given).await;
    }
    let receiver = Receiver::start().await;
    listen(&world, &tenant, &receiver).await;
    let _stop = Setup::default().start(&world);
    for _ in 0..3 {
        tollgate_reconciler::due::pass(&world.ledger, &world.store).await.unwrap();
    }
    let mut seen: Vec<Value> =
        receiver.wait("/ok", 2, Duration::from_secs(5)).await.iter().map(|one| one.json()["data"].clone()).collect();
    tokio::time::sleep(Duration::from_millis(1_200)).await;
    assert_eq!(receiver.at("/ok").await.len(), 2, "each once");
    seen.sort_by_key(|data| data["ends_at"].as_str().unwrap().to_owned());
    assert_eq!([&seen[0]["grant_id"], &seen[1]["grant_id"]], [&json!(ids[2]), &json!(ids[1])]);
    assert_eq!((&seen[0]["kind"], &seen[0]["remaining"]), (&json!("temporary"), &json!("1.00000000")));
}
