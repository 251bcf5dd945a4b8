//! One request through the quota of a gateway.

use std::time::{Duration, Instant};

use domain::record::Outcome;
use domain::settings::{OutageMode, OutageStep};
use domain::{Level, RequestId};
use quota::{Admission, Ask, Config, Extension, Freeze, Quota};

use crate::world::{Tenant, World, amount};

pub fn config(world: &World) -> Config {
    let mut config = Config::new(format!("test-{}", RequestId::generate()), world.redis.url());
    config.beat_interval = Duration::from_millis(100);
    config.recovery_wait = Duration::from_millis(300);
    config.ledger.command_timeout = Duration::from_secs(2);
    config
}

pub fn ask(tenant: &Tenant, want: i64, need: i64) -> Ask {
    Ask {
        request_id: RequestId::generate(),
        tenant_id: tenant.id,
        project_id: tenant.project,
        key_id: tenant.key,
        scopes: tenant.scopes.clone(),
        want: amount(want),
        need: amount(need),
        tokens_want: 0,
        tokens_need: 0,
        model: "m".to_owned(),
        outage: vec![OutageStep { mode: OutageMode::Allowance, for_s: None }].into(),
    }
}

pub async fn admit(quota: &Quota, tenant: &Tenant, want: i64, need: i64) -> Freeze {
    match quota.admit(ask(tenant, want, need)).await.unwrap() {
        Admission::Admitted(freeze) => freeze,
        other => panic!("not admitted: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_is_frozen_settled_recorded_and_confirmed() {
    let world = World::start().await;
    let tenant = world.tenant(1000).await;
    world.open(&tenant).await;
    let quota = Quota::start(config(&world), world.store.clone()).await.unwrap();

    let began = Instant::now();
    let freeze = admit(&quota, &tenant, 400, 10).await;
    assert!(began.elapsed() < Duration::from_millis(250), "the first call of a tenant waits for nothing");
    assert_eq!(freeze.amount(), amount(400));
    let numbers = quota.read(tenant.id, &tenant.scopes).await.unwrap();
    let of_tenant = numbers.iter().find(|numbers| numbers.scope.level() == Level::Tenant).unwrap();
    assert_eq!((of_tenant.used, of_tenant.frozen, of_tenant.remaining()), (amount(0), amount(400), Some(amount(600))));

    let id = freeze.request_id();
    freeze.finish(Outcome::Final, amount(123), tenant.record(id)).recorded().await.unwrap();
    let numbers = quota.read(tenant.id, &tenant.scopes).await.unwrap();
    for numbers in numbers {
        assert_eq!((numbers.used, numbers.frozen), (amount(123), amount(0)), "{}", numbers.scope);
    }
    assert_eq!(world.charged(id).await, (123, 1));
    assert_eq!(quota.shutdown(Duration::from_secs(5)).await, 0);
    world.assert_books(&tenant).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_charge_between_its_record_and_its_confirm_is_read_once() {
    let world = World::start().await;
    let tenant = world.tenant(1000).await;
    world.open(&tenant).await;
    let quota = Quota::start(config(&world), world.store.clone()).await.unwrap();
    let freeze = admit(&quota, &tenant, 400, 10).await;
    let id = freeze.request_id();
    quota::outcomes::record(&world.store, &[tenant.row(id, Outcome::Final, 123)]).await.unwrap();
    // Postgres has it in `used`, Redis still as frozen: one of both is read, never their sum.
    for numbers in quota.read(tenant.id, &tenant.scopes).await.unwrap() {
        assert_eq!((numbers.used, numbers.frozen), (amount(0), amount(400)), "{}", numbers.scope);
    }
    freeze.finish(Outcome::Final, amount(123), tenant.record(id)).recorded().await.unwrap();
    for numbers in quota.read(tenant.id, &tenant.scopes).await.unwrap() {
        assert_eq!((numbers.used, numbers.frozen), (amount(123), amount(0)), "{}", numbers.scope);
    }
    assert_eq!(quota.shutdown(Duration::from_secs(5)).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_what_is_left_is_frozen_and_less_than_needed_is_refused() {
    let world = World::start().await;
    let tenant = world.tenant_with(1000, Some(300), None).await;
    world.open(&tenant).await;
    let quota = Quota::start(config(&world), world.store.clone()).await.unwrap();

    let first = admit(&quota, &tenant, 5000, 10).await;
    assert_eq!(first.amount(), amount(300), "the project's budget is the narrowest");
    let refusal = match quota.admit(ask(&tenant, 50, 1)).await.unwrap() {
        Admission::Refused(refusal) => refusal,
        other => panic!("{other:?}"),
    };
    assert_eq!((refusal.level, refusal.limit.as_str(), refusal.available), (Level::Project, "quota", amount(0)));
    let id = first.request_id();
    first.finish(Outcome::RolledBack, amount(0), tenant.record(id)).recorded().await.unwrap();
    assert_eq!(world.charged(id).await, (0, 1));
    let second = admit(&quota, &tenant, 300, 300).await;
    assert!(matches!(second.extend(amount(400), amount(301)).await, Extension::Refused(_)));
    let id = second.request_id();
    second.finish(Outcome::Final, amount(300), tenant.record(id)).recorded().await.unwrap();
    quota.shutdown(Duration::from_secs(5)).await;
    world.assert_books(&tenant).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_changes_no_byte() {
    let world = World::start().await;
    let tenant = world.tenant_with(1000, Some(50), None).await;
    world.open(&tenant).await;
    let quota = Quota::start(config(&world), world.store.clone()).await.unwrap();
    let held = admit(&quota, &tenant, 40, 40).await;
    let before = dump(&world);
    // The key has no limit, the project (the second of three) lacks 30.
    assert!(matches!(quota.admit(ask(&tenant, 40, 40)).await.unwrap(), Admission::Refused(_)));
    assert_eq!(dump(&world), before);
    let id = held.request_id();
    held.finish(Outcome::Final, amount(1), tenant.record(id)).recorded().await.unwrap();
}

/// Every key's serialised value; beats are left out by comparing within one beat interval only where nothing beats.
fn dump(world: &World) -> Vec<String> {
    let testkit::redis::Reply::Array(keys) = world.redis.command(&["KEYS", "*:a:*"]).unwrap() else {
        panic!("no keys")
    };
    let mut all: Vec<String> = keys
        .into_iter()
        .map(|key| {
            let testkit::redis::Reply::Text(key) = key else { panic!("a key") };
            format!("{key} {:?}", world.redis.command(&["HGETALL", &key]).unwrap())
        })
        .collect();
    all.sort();
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_extension_grows_the_freeze_and_the_charge_is_exact() {
    let world = World::start().await;
    let tenant = world.tenant(1000).await;
    world.open(&tenant).await;
    let quota = Quota::start(config(&world), world.store.clone()).await.unwrap();
    let freeze = admit(&quota, &tenant, 100, 10).await;
    let Extension::Granted(now) = freeze.extend(amount(500), amount(200)).await else { panic!("not granted") };
    assert_eq!(now, amount(500));
    let Extension::Granted(now) = freeze.extend(amount(5000), amount(600)).await else { panic!("not granted") };
    assert_eq!(now, amount(1000), "as much as is left");
    assert!(matches!(freeze.extend(amount(5000), amount(1001)).await, Extension::Refused(_)));
    let id = freeze.request_id();
    freeze.finish(Outcome::Final, amount(777), tenant.record(id)).recorded().await.unwrap();
    quota.shutdown(Duration::from_secs(5)).await;
    assert_eq!(world.charged(id).await, (777, 1));
    world.assert_books(&tenant).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wiped_redis_costs_time_and_nothing_else() {
    let world = World::start().await;
    let tenant = world.tenant(1000).await;
    world.open(&tenant).await;
    let quota = Quota::start(config(&world), world.store.clone()).await.unwrap();
    let running = admit(&quota, &tenant, 700, 700).await;
    world.redis.command(&["FLUSHALL"]).unwrap();
    // 300 are left while the first runs: the beats bring its freeze back within the window.
    let refused = quota.admit(ask(&tenant, 400, 400)).await.unwrap();
    assert!(matches!(refused, Admission::Refused(_)), "{refused:?}");
    let second = admit(&quota, &tenant, 300, 300).await;
    for (freeze, charge) in [(running, 650), (second, 300)] {
        let id = freeze.request_id();
        freeze.finish(Outcome::Final, amount(charge), tenant.record(id)).recorded().await.unwrap();
        assert_eq!(world.charged(id).await, (charge, 1));
    }
    quota.shutdown(Duration::from_secs(5)).await;
    world.assert_books(&tenant).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_top_up_is_in_force_when_its_push_returns() {
    let world = World::start().await;
    let tenant = world.tenant(0).await;
    world.open(&tenant).await;
    let gateways = [
        Quota::start(config(&world), world.store.clone()).await.unwrap(),
        Quota::start(config(&world), world.store.clone()).await.unwrap(),
    ];
    for gateway in &gateways {
        assert!(matches!(gateway.admit(ask(&tenant, 10, 10)).await.unwrap(), Admission::Refused(_)));
    }
    world.top_up(&tenant, 20).await;
    assert!(gateways[0].push(tenant.id, &tenant.scopes).await.unwrap().in_force);
    for gateway in &gateways {
        let freeze = admit(gateway, &tenant, 10, 10).await;
        let id = freeze.request_id();
        freeze.finish(Outcome::Final, amount(10), tenant.record(id)).recorded().await.unwrap();
    }
    for gateway in gateways {
        gateway.shutdown(Duration::from_secs(5)).await;
    }
    world.assert_books(&tenant).await;
}
