//! Redis away: what the quota hands out, what it puts back, and what is left of a gateway that dies meanwhile.

use std::time::Duration;

use domain::RequestId;
use domain::record::Outcome;
use domain::settings::{OutageMode, OutageStep};
use quota::{Admission, Extension, Freeze, Quota, Unavailable, outcomes};
use tollgate_reconciler::opened::Traces;
use tollgate_reconciler::sweep::Sweeper;

use crate::life::{admit, ask, config};
use crate::world::{Tenant, World, amount};

const LEASE: Duration = Duration::from_millis(600);

async fn start(world: &World) -> Quota {
    let mut config = config(world);
    config.probe_interval = Duration::from_millis(100);
    Quota::start(config, world.store.clone()).await.unwrap()
}

async fn until(what: &str, quota: &Quota, is_away: bool) {
    testkit::wait::until_async(what, Duration::from_secs(10), || async {
        Ok((quota.is_away() == is_away).then_some(()))
    })
    .await
    .unwrap();
}

async fn finish(world: &World, tenant: &Tenant, freeze: Freeze, units: i64) {
    let id = freeze.request_id();
    freeze.finish(Outcome::Final, amount(units), tenant.record(id)).recorded().await.unwrap();
    assert_eq!(world.charged(id).await, (units, 1));
}

/// The world's own connection finds out that Redis was started anew.
async fn connected(world: &World) {
    testkit::wait::until_async("Redis", Duration::from_secs(5), || async {
        Ok(world.ledger.ping().await.is_ok().then_some(()))
    })
    .await
    .unwrap();
}

async fn opened(world: &World) -> i64 {
    world.database.value("SELECT count(*) FROM opened_requests").await.unwrap().as_i64().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_runs_is_put_back_before_anything_is_frozen() {
    let mut world = World::start().await;
    let tenant = world.tenant(1000).await;
    world.open(&tenant).await;
    let quota = start(&world).await;
    let before = admit(&quota, &tenant, 700, 700).await;
    world.redis.kill().unwrap();
    // This one may have reached Redis: its roll back is recorded.
    assert!(matches!(quota.admit(ask(&tenant, 31, 31)).await, Err(Unavailable::Away(_))));
    // 10 % of 300.
    let during = admit(&quota, &tenant, 25, 10).await;
    assert!(quota.is_away());
    assert_eq!(during.amount(), amount(25));
    assert!(matches!(quota.admit(ask(&tenant, 6, 6)).await, Err(Unavailable::Away(_))));
    assert_eq!(opened(&world).await, 1);
    // Ended while Redis is away: 15 of its 20 can be handed out again.
    finish(&world, &tenant, during, 10).await;
    assert_eq!(opened(&world).await, 0);
    let during = admit(&quota, &tenant, 30, 5).await;
    assert_eq!(during.amount(), amount(20));
    assert!(matches!(before.extend(amount(701), amount(701)).await, Extension::Away));
    world.redis.restart().unwrap();
    until("Redis to be back", &quota, false).await;
    // 1000 - 10 spent - 700 - 20 frozen.
    assert!(matches!(quota.admit(ask(&tenant, 271, 271)).await.unwrap(), Admission::Refused(_)));
    let after = admit(&quota, &tenant, 270, 270).await;
    for (freeze, charge) in [(before, 650), (during, 21), (after, 1)] {
        finish(&world, &tenant, freeze, charge).await;
    }
    assert_eq!(opened(&world).await, 0);
    quota.shutdown(Duration::from_secs(5)).await;
    connected(&world).await;
    world.assert_books(&tenant).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_only_paused_agrees_to_the_unit() {
    let world = World::start().await;
    let tenant = world.tenant(1000).await;
    world.open(&tenant).await;
    let mut config = config(&world);
    config.probe_interval = Duration::from_millis(100);
    config.ledger.command_timeout = Duration::from_millis(250);
    let quota = Quota::start(config, world.store.clone()).await.unwrap();
    let (ends_in_it, lasts) = (admit(&quota, &tenant, 300, 300).await, admit(&quota, &tenant, 300, 300).await);
    world.redis.freeze().unwrap();
    let new = admit(&quota, &tenant, 40, 10).await;
    assert_eq!(new.amount(), amount(40), "10 % of 400");
    let id = ends_in_it.request_id();
    let pending = ends_in_it.finish(Outcome::Final, amount(120), tenant.record(id));
    let (_, lost) = tokio::join!(tokio::time::sleep(Duration::from_millis(300)), quota.admit(ask(&tenant, 5, 5)));
    assert!(matches!(lost, Err(Unavailable::Away(_))));
    world.redis.thaw().unwrap();
    pending.recorded().await.unwrap();
    until("Redis to be back", &quota, false).await;
    // 120 spent, 300 and 40 frozen; what the lost calls froze is rolled back.
    let all = testkit::wait::until_async("the rest to be there", Duration::from_secs(10), || async {
        match quota.admit(ask(&tenant, 540, 540)).await? {
            Admission::Admitted(freeze) => Ok(Some(freeze)),
            _ => Ok(None),
        }
    })
    .await
    .unwrap();
    assert!(matches!(quota.admit(ask(&tenant, 1, 1)).await.unwrap(), Admission::Refused(_)));
    for (freeze, charge) in [(lasts, 301), (new, 33), (all, 2)] {
        finish(&world, &tenant, freeze, charge).await;
    }
    quota.shutdown(Duration::from_secs(5)).await;
    world.assert_books(&tenant).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn steps_follow_each_other_and_a_gateway_that_dies_leaves_a_trace() {
    let mut world = World::start().await;
    let tenant = world.tenant(100).await;
    world.open(&tenant).await;
    let quota = start(&world).await;
    finish(&world, &tenant, admit(&quota, &tenant, 10, 10).await, 10).await;
    world.redis.kill().unwrap();
    let steps: std::sync::Arc<[OutageStep]> =
        [OutageStep { mode: OutageMode::Deny, for_s: Some(1) }, OutageStep { mode: OutageMode::Bypass, for_s: None }]
            .into();
    let ask = || quota::Ask { outage: std::sync::Arc::clone(&steps), ..ask(&tenant, 5000, 5000) };
    let lost = tokio::time::Instant::now();
    assert!(matches!(quota.admit(ask()).await, Err(Unavailable::Away(_))));
    // The steps' time begins where the breaker opens, which on a busy machine is some way behind the lost call.
    let freeze = testkit::wait::until_async("the second step", Duration::from_secs(10), || async {
        match quota.admit(ask()).await {
            Ok(Admission::Admitted(freeze)) => Ok(Some(freeze)),
            Ok(_) => panic!("refused by numbers nobody can read"),
            Err(_) => Ok(None),
        }
    })
    .await
    .unwrap();
    assert!(lost.elapsed() >= Duration::from_secs(1), "the first step was skipped");
    let id: RequestId = freeze.request_id();
    freeze.set_progress(amount(42));
    testkit::wait::until_async("the checkpoint", Duration::from_secs(5), || async {
        let row = world.database.value("SELECT checkpoints::text FROM gateway_beats ORDER BY at DESC LIMIT 1").await?;
        Ok(row.as_str().unwrap_or_default().contains(&id.to_string()).then_some(()))
    })
    .await
    .unwrap();
    tokio::time::sleep(Duration::from_millis(250)).await;

    let (mut sweeper, mut traces) = (Sweeper::default(), Traces::default());
    let mut pass = async |for_at_least: Duration| {
        let began = tokio::time::Instant::now();
        let mut recorded = 0;
        while began.elapsed() < for_at_least {
            assert!(sweeper.pass(&world.ledger, &world.store, LEASE).await.is_err(), "Redis is away");
            recorded += traces.pass(&world.ledger, &world.store, &sweeper, LEASE).await.unwrap();
            tokio::time::sleep(Duration::from_millis(40)).await;
        }
        recorded
    };
    assert_eq!(pass(LEASE * 2).await, 0, "its gateway lives");
    std::mem::forget(freeze);
    quota.shutdown(Duration::ZERO).await;
    assert_eq!(pass(LEASE * 3).await, 1);
    assert_eq!((world.charged(id).await, opened(&world).await), ((42, 1), 0));
    let audit = format!("SELECT count(*) FROM audit_log WHERE action = 'request.expire' AND target = '{id}'");
    assert_eq!(world.database.value(&audit).await.unwrap(), 1);
    // It was only paused: its own outcome corrects.
    outcomes::record(&world.store, &[tenant.row(id, Outcome::Final, 50)]).await.unwrap();
    assert_eq!(world.charged(id).await, (50, 1));
    world.redis.restart().unwrap();
    connected(&world).await;
    world.open(&tenant).await;
    world.assert_books(&tenant).await;
}
