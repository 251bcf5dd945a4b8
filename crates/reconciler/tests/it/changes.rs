//! Decreases: refused exactly below what is used and in flight, under load too; cancelled where their maker is gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use domain::ids::QuotaChangeId;
use domain::record::Outcome;
use domain::{Amount, Scope};
use quota::{Admission, Lowered, Quota};
use store::quota_changes::{NewChange, Refusal};
use tollgate_reconciler::changes;

use crate::life::{admit, ask, config};
use crate::world::{Tenant, World, amount, grant};

fn change(tenant: &Tenant, scope: &Scope, units: i64) -> NewChange {
    NewChange {
        id: QuotaChangeId::generate(),
        tenant_id: tenant.id,
        scope: scope.clone(),
        delta: amount(units),
        recurring: false,
        reason: "test".to_owned(),
        actor: "test".to_owned(),
    }
}

async fn begin(world: &World, change: &NewChange) -> bool {
    let mut transaction = world.store.begin().await.unwrap();
    match store::quota_changes::begin(&mut transaction, change).await {
        Ok(_) => {
            transaction.commit().await.unwrap();
            true
        }
        Err(store::Error::AlreadyExists { .. }) => false,
        Err(error) => panic!("{error}"),
    }
}

/// All steps of a decrease; true where it was made.
async fn decrease(world: &World, quota: &Quota, tenant: &Tenant, scope: &Scope, units: i64) -> bool {
    let change = change(tenant, scope, -units);
    if !begin(world, &change).await {
        return false;
    }
    let lowered = quota.lower(tenant.id, scope, amount(units)).await.unwrap();
    let mut transaction = world.store.begin().await.unwrap();
    let fits = matches!(lowered, Lowered::Fits(_));
    if fits {
        assert_eq!(store::quota_changes::commit(&mut transaction, &change).await.unwrap(), Ok(()));
    } else {
        store::quota_changes::cancel(&mut transaction, change.id).await.unwrap();
    }
    transaction.commit().await.unwrap();
    quota.push(tenant.id, std::slice::from_ref(scope)).await.unwrap();
    fits
}

async fn raise(world: &World, tenant: &Tenant, scope: &Scope, units: i64) -> Result<(), Refusal> {
    let mut transaction = world.store.begin().await.unwrap();
    let made = store::quota_changes::raise(&mut transaction, &change(tenant, scope, units)).await.unwrap();
    transaction.commit().await.unwrap();
    made
}

/// Case 42, at every level.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn below_used_and_in_flight_is_refused_to_the_unit() {
    let world = World::start().await;
    let tenant = world.tenant_with(100, Some(100), Some(100)).await;
    world.open(&tenant).await;
    let quota = Quota::start(config(&world), world.store.clone()).await.unwrap();
    let freeze = admit(&quota, &tenant, 30, 30).await;
    let id = freeze.request_id();
    freeze.finish(Outcome::Final, amount(30), tenant.record(id)).recorded().await.unwrap();
    let running = admit(&quota, &tenant, 40, 40).await;
    for scope in &tenant.scopes {
        assert!(!decrease(&world, &quota, &tenant, scope, 31).await, "{scope}");
        assert!(decrease(&world, &quota, &tenant, scope, 20).await, "{scope}");
        assert!(decrease(&world, &quota, &tenant, scope, 10).await, "{scope}");
        assert!(!decrease(&world, &quota, &tenant, scope, 1).await, "{scope}");
    }
    assert!(matches!(quota.admit(ask(&tenant, 1, 1)).await.unwrap(), Admission::Refused(_)));
    let id = running.request_id();
    running.finish(Outcome::Final, amount(35), tenant.record(id)).recorded().await.unwrap();
    for scope in &tenant.scopes {
        raise(&world, &tenant, scope, 7).await.unwrap();
    }
    let numbers = quota.push(tenant.id, &tenant.scopes).await.unwrap().numbers;
    for numbers in numbers {
        assert_eq!((numbers.total, numbers.remaining()), (Some(amount(77)), Some(amount(12))), "{}", numbers.scope);
    }
    quota.shutdown(Duration::from_secs(5)).await;
    world.assert_books(&tenant).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_takes_from_grants_in_reverse_burn_order() {
    let world = World::start().await;
    let tenant = world.tenant(50).await;
    world.open(&tenant).await;
    let plan = store::grants::NewGrant { kind: "plan".to_owned(), priority: 30, ..grant(&tenant, 20) };
    world.give(plan).await;
    let quota = Quota::start(config(&world), world.store.clone()).await.unwrap();
    assert!(decrease(&world, &quota, &tenant, &tenant.scopes[2], 25).await);
    let rows = world
        .database
        .rows(&format!(
            "SELECT kind, amount FROM grant_balances WHERE tenant_id = '{}' ORDER BY kind",
            tenant.id.uuid()
        ))
        .await
        .unwrap();
    let rows: Vec<_> =
        rows.iter().map(|row| (row["kind"].as_str().unwrap(), row["amount"].as_i64().unwrap())).collect();
    assert_eq!(rows, [("gift", 45), ("plan", 0)]);
    let mut transaction = world.store.begin().await.unwrap();
    let recurring = NewChange { recurring: true, ..change(&tenant, &tenant.scopes[2], 5) };
    let refused = store::quota_changes::raise(&mut transaction, &recurring).await.unwrap();
    assert_eq!(refused, Err(Refusal::Recurring), "there is no plan");
    drop(transaction);
    quota.shutdown(Duration::from_secs(5)).await;
    world.assert_books(&tenant).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decrease_whose_maker_is_gone_is_cancelled() {
    let world = World::start().await;
    let tenant = world.tenant(100).await;
    world.open(&tenant).await;
    let quota = Quota::start(config(&world), world.store.clone()).await.unwrap();
    let abandoned = change(&tenant, &tenant.scopes[2], -60);
    assert!(begin(&world, &abandoned).await);
    assert!(!begin(&world, &change(&tenant, &tenant.scopes[2], -1)).await, "one at a time");
    assert!(matches!(quota.admit(ask(&tenant, 41, 41)).await.unwrap(), Admission::Refused(_)), "lowered already");
    assert_eq!(changes::pass(&world.ledger, &world.store).await.unwrap(), 0, "it may still be decided");
    assert_eq!(changes::older_than(&world.ledger, &world.store, 0.0).await.unwrap(), 1);
    let freeze = admit(&quota, &tenant, 100, 100).await;
    let id = freeze.request_id();
    freeze.finish(Outcome::Final, amount(100), tenant.record(id)).recorded().await.unwrap();
    let mut transaction = world.store.begin().await.unwrap();
    let late = store::quota_changes::commit(&mut transaction, &abandoned).await.unwrap();
    assert_eq!(late, Err(Refusal::Decided));
    drop(transaction);
    quota.shutdown(Duration::from_secs(5)).await;
    world.assert_books(&tenant).await;
}

/// Requests, top-ups and decreases at once: never more is charged than the total at any instant allows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_top_ups_and_decreases_race_and_nothing_is_overspent() {
    let world = Arc::new(World::start().await);
    let tenant = world.tenant(500).await;
    world.open(&tenant).await;
    let gateways = [
        Quota::start(config(&world), world.store.clone()).await.unwrap(),
        Quota::start(config(&world), world.store.clone()).await.unwrap(),
    ];
    let charged = Arc::new(AtomicI64::new(0));
    let mut tasks = Vec::new();
    for worker in 0..8_usize {
        let (quota, tenant, charged) = (gateways[worker % 2].clone(), tenant.clone(), Arc::clone(&charged));
        tasks.push(tokio::spawn(async move {
            for call in 0..25_i64 {
                if let Admission::Admitted(freeze) = quota.admit(ask(&tenant, 20, 5)).await.unwrap() {
                    let charge = freeze.amount().units().min(5 + call % 11);
                    let record = tenant.record(freeze.request_id());
                    charged.fetch_add(charge, Ordering::Relaxed);
                    freeze.finish(Outcome::Final, amount(charge), record).recorded().await.unwrap();
                }
            }
        }));
    }
    let topped = {
        let (world, quota, tenant) = (Arc::clone(&world), gateways[0].clone(), tenant.clone());
        tokio::spawn(async move {
            for _ in 0..10 {
                world.top_up(&tenant, 40).await;
                quota.push(tenant.id, &tenant.scopes).await.unwrap();
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
    };
    let mut taken = 0;
    for _ in 0..20 {
        if decrease(&world, &gateways[1], &tenant, &tenant.scopes[2], 30).await {
            taken += 30;
        }
    }
    topped.await.unwrap();
    for task in tasks {
        task.await.unwrap();
    }
    for gateway in gateways {
        assert_eq!(gateway.shutdown(Duration::from_secs(10)).await, 0);
    }
    world.assert_books(&tenant).await;
    let mut connection = world.store.acquire().await.unwrap();
    let after = store::accounts::snapshots(&mut connection, &[Scope::Tenant(tenant.id)]).await.unwrap().remove(0);
    assert_eq!(after.total, Some(amount(500 + 400 - taken)));
    assert_eq!(after.used, amount(charged.load(Ordering::Relaxed)));
    assert!(after.used <= after.total.unwrap_or(Amount::ZERO), "{after:?}");
    println!("race: {} charged, {taken} taken", after.used);
}
