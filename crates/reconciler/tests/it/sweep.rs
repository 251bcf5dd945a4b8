//! Phantom freezes, and the windows of idle shards.

use std::time::Duration;

use domain::FreezeState;
use domain::RequestId;
use domain::Shard;
use domain::record::Outcome;
use quota::outcomes;
use tollgate_reconciler::sweep::Sweeper;
use tollgate_reconciler::windows::Windows;

use crate::world::World;

const LEASE: Duration = Duration::from_millis(400);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_freeze_without_beats_is_recorded_after_a_lease_and_never_before() {
    let world = World::start().await;
    let tenant = world.tenant(1000).await;
    world.open(&tenant).await;
    let shard = Shard::of(tenant.id);
    let (running, ended) = (RequestId::generate(), RequestId::generate());
    let entries =
        [tenant.entry(running, FreezeState::Active, 100, 30), tenant.entry(ended, FreezeState::Settled, 55, 55)];
    world.ledger.beat(shard, &entries).await.unwrap();
    // The accounts must be there for the record, as after a load.
    let mut connection = world.store.acquire().await.unwrap();
    store::load::load(&mut connection, tenant.id, &tenant.scopes).await.unwrap();

    let mut sweeper = Sweeper::default();
    let began = tokio::time::Instant::now();
    let mut healed = 0;
    while healed < 2 {
        assert!(began.elapsed() < LEASE * 4, "phantom freezes are still there");
        healed += sweeper.pass(&world.ledger, &world.store, LEASE).await.unwrap().healed;
        if began.elapsed() < LEASE {
            assert_eq!(healed, 0, "healed before a lease was over");
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(world.charged(running).await, (30, 1), "the last checkpoint");
    assert_eq!(world.charged(ended).await, (55, 1), "the actual charge");
    world.assert_books(&tenant).await;

    // The gateway was only paused: its own outcome comes late, and corrects.
    let row = tenant.row(running, Outcome::Final, 44);
    for _ in 0..3 {
        outcomes::record(&world.store, std::slice::from_ref(&row)).await.unwrap();
    }
    assert_eq!(world.charged(running).await, (44, 1));
    world.assert_sums(&tenant).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_freeze_that_is_beaten_is_left_alone() {
    let world = World::start().await;
    let tenant = world.tenant(1000).await;
    world.open(&tenant).await;
    let id = RequestId::generate();
    let mut sweeper = Sweeper::default();
    let began = tokio::time::Instant::now();
    while began.elapsed() < LEASE * 3 {
        let entry = tenant.entry(id, FreezeState::Active, 100, 30);
        world.ledger.beat(Shard::of(tenant.id), &[entry]).await.unwrap();
        let swept = sweeper.pass(&world.ledger, &world.store, LEASE).await.unwrap();
        assert_eq!(swept.healed, 0);
        tokio::time::sleep(Duration::from_millis(40)).await;
    }
    assert_eq!(world.charged(id).await, (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn idle_shards_are_opened_after_the_window_and_not_before() {
    let world = World::start().await;
    let wait = Duration::from_millis(300);
    let mut windows = Windows::default();
    let began = tokio::time::Instant::now();
    assert_eq!(windows.pass(&world.ledger, wait).await.unwrap(), 1024);
    loop {
        let closed = windows.pass(&world.ledger, wait).await.unwrap();
        if closed == 0 {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(10));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(began.elapsed() >= wait);
    world.redis.command(&["FLUSHALL"]).unwrap();
    assert_eq!(windows.pass(&world.ledger, wait).await.unwrap(), 1024, "a wipe begins new windows");
}
