//! A grant ends while requests run: those frozen before may still use it, the next grant is neither burdened nor blocked.

use std::time::Duration;

use domain::record::Outcome;
use domain::{GrantId, Level, Numbers};
use quota::{Admission, Extension, Freeze, Quota};
use time::OffsetDateTime;

use crate::life::{admit, ask, config};
use crate::world::{Tenant, World, amount, grant};

/// A tenant whose grant of `first` ends after `lasts`, at the instant at which one of `next` begins.
async fn with_change(world: &World, first: i64, next: i64, lasts: Duration) -> (Tenant, OffsetDateTime) {
    let tenant = world.tenant(0).await;
    world.open(&tenant).await;
    let at = OffsetDateTime::now_utc() + lasts;
    world.give(store::grants::NewGrant { ends_at: Some(at), ..grant(&tenant, first) }).await;
    world.give(store::grants::NewGrant { starts_at: Some(at), ..grant(&tenant, next) }).await;
    (tenant, at)
}

async fn finish(tenant: &Tenant, freeze: Freeze, units: i64) {
    let record = tenant.record(freeze.request_id());
    freeze.finish(Outcome::Final, amount(units), record).recorded().await.unwrap();
}

async fn of_tenant(quota: &Quota, tenant: &Tenant) -> Numbers {
    let numbers = quota.read(tenant.id, &tenant.scopes).await.unwrap();
    numbers.into_iter().find(|numbers| numbers.scope.level() == Level::Tenant).unwrap()
}

async fn until(at: OffsetDateTime) {
    let left = at - OffsetDateTime::now_utc() + Duration::from_millis(20);
    tokio::time::sleep(left.try_into().unwrap_or_default()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_frozen_before_the_end_uses_what_ended() {
    let world = World::start().await;
    let (tenant, end) = with_change(&world, 100, 50, Duration::from_secs(2)).await;
    let quota = Quota::start(config(&world), world.store.clone()).await.unwrap();
    let old = admit(&quota, &tenant, 60, 60).await;
    let refused = quota.admit(ask(&tenant, 50, 50)).await.unwrap();
    assert!(matches!(refused, Admission::Refused(_)), "{refused:?}");
    until(end).await;
    // The whole of the next grant is there for new requests, though an old one still holds 60.
    let new = admit(&quota, &tenant, 50, 50).await;
    assert!(matches!(quota.admit(ask(&tenant, 1, 1)).await.unwrap(), Admission::Refused(_)));
    // The old one may take the rest of what ended, and no more; the new one nothing of it.
    assert!(matches!(new.extend(amount(51), amount(51)).await, Extension::Refused(_)));
    assert!(matches!(old.extend(amount(101), amount(101)).await, Extension::Refused(_)));
    let Extension::Granted(now) = old.extend(amount(200), amount(90)).await else { panic!("not granted") };
    assert_eq!(now, amount(100));
    assert!(matches!(quota.admit(ask(&tenant, 1, 1)).await.unwrap(), Admission::Refused(_)));
    finish(&tenant, old, 95).await;
    let numbers = of_tenant(&quota, &tenant).await;
    assert_eq!((numbers.total, numbers.used, numbers.frozen), (Some(amount(50)), amount(0), amount(50)));
    finish(&tenant, new, 48).await;
    let numbers = of_tenant(&quota, &tenant).await;
    assert_eq!((numbers.used, numbers.frozen, numbers.remaining()), (amount(48), amount(0), Some(amount(2))));
    let last = admit(&quota, &tenant, 2, 2).await;
    finish(&tenant, last, 2).await;
    assert_eq!(quota.shutdown(Duration::from_secs(5)).await, 0);
    world.assert_books(&tenant).await;
    let events = world
        .database
        .rows(&format!("SELECT kind, delta FROM grant_events WHERE tenant_id = '{}' ORDER BY id", tenant.id.uuid()))
        .await
        .unwrap();
    let events: Vec<_> =
        events.iter().map(|row| (row["kind"].as_str().unwrap(), row["delta"].as_i64().unwrap())).collect();
    let expected =
        [("created", 0), ("started", 100), ("created", 0), ("lapsed", -100), ("started", 50), ("unlapsed", 95)];
    assert_eq!(events, expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn beyond_what_ended_an_old_request_burdens_the_next_grant() {
    let world = World::start().await;
    let (tenant, end) = with_change(&world, 100, 50, Duration::from_secs(1)).await;
    let quota = Quota::start(config(&world), world.store.clone()).await.unwrap();
    let old = admit(&quota, &tenant, 100, 100).await;
    until(end).await;
    let new = admit(&quota, &tenant, 10, 10).await;
    finish(&tenant, old, 120).await;
    finish(&tenant, new, 10).await;
    let numbers = of_tenant(&quota, &tenant).await;
    assert_eq!((numbers.used, numbers.remaining()), (amount(30), Some(amount(20))));
    quota.shutdown(Duration::from_secs(5)).await;
    world.assert_books(&tenant).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_grant_that_a_person_ends_still_serves_who_runs() {
    let world = World::start().await;
    let tenant = world.tenant(0).await;
    world.open(&tenant).await;
    let gift = grant(&tenant, 100);
    let id: GrantId = gift.id;
    world.give(gift).await;
    let quota = Quota::start(config(&world), world.store.clone()).await.unwrap();
    let old = admit(&quota, &tenant, 70, 70).await;
    let mut transaction = world.store.begin().await.unwrap();
    store::grants::end(&mut transaction, tenant.id, id, "test", "over").await.unwrap();
    transaction.commit().await.unwrap();
    assert!(quota.push(tenant.id, &tenant.scopes).await.unwrap().in_force);
    assert!(matches!(quota.admit(ask(&tenant, 1, 1)).await.unwrap(), Admission::Refused(_)));
    finish(&tenant, old, 70).await;
    let numbers = of_tenant(&quota, &tenant).await;
    assert_eq!((numbers.total, numbers.used, numbers.debt()), (Some(amount(0)), amount(0), amount(0)));
    quota.shutdown(Duration::from_secs(5)).await;
    world.assert_books(&tenant).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_redis_lost_still_counts_against_what_ended() {
    let world = World::start().await;
    let (tenant, end) = with_change(&world, 100, 50, Duration::from_secs(2)).await;
    let quota = Quota::start(config(&world), world.store.clone()).await.unwrap();
    let old = admit(&quota, &tenant, 80, 80).await;
    until(end).await;
    world.redis.command(&["FLUSHALL"]).unwrap();
    let new = admit(&quota, &tenant, 50, 50).await;
    assert!(matches!(quota.admit(ask(&tenant, 1, 1)).await.unwrap(), Admission::Refused(_)));
    finish(&tenant, old, 80).await;
    finish(&tenant, new, 50).await;
    quota.shutdown(Duration::from_secs(5)).await;
    world.assert_books(&tenant).await;
}

/// A late correction of a request that the ended grant bore goes back to that grant, not to the present one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_correction_goes_back_to_the_grant_that_bore_it() {
    let world = World::start().await;
    let (tenant, end) = with_change(&world, 100, 50, Duration::from_secs(1)).await;
    let id = domain::RequestId::generate();
    let expired = tenant.row(id, Outcome::Expired, 40);
    store_load(&world, &tenant).await;
    quota::outcomes::record(&world.store, &[expired]).await.unwrap();
    until(end).await;
    store_load(&world, &tenant).await;
    quota::outcomes::record(&world.store, &[tenant.row(id, Outcome::Final, 25)]).await.unwrap();
    assert_eq!(world.charged(id).await, (25, 1));
    world.assert_sums(&tenant).await;
    let used = world.database.value(&format!("SELECT used FROM accounts WHERE scope = '{}'", tenant.id)).await.unwrap();
    assert_eq!(used.as_i64(), Some(0));
}

async fn store_load(world: &World, tenant: &Tenant) {
    let mut connection = world.store.acquire().await.unwrap();
    store::load::load(&mut connection, tenant.id, &tenant.scopes).await.unwrap();
}
