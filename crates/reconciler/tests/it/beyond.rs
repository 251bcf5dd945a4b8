//! Beyond the total: split over grants, credit line, overdraft, debt, and how they are repaid.

use std::time::Duration;

use domain::record::Outcome;
use domain::{Amount, Numbers, RequestId, Scope};
use quota::{Admission, Quota};

use crate::life::{admit, ask, config};
use crate::world::{Tenant, World, amount, grant};

async fn allow(world: &World, tenant: &Tenant, credit: i64, overdraft: (i64, Option<u32>)) {
    let change = store::accounts::Change {
        credit_limit: Some(amount(credit)),
        overdraft_limit: Some((amount(overdraft.0), overdraft.1)),
        ..Default::default()
    };
    let mut transaction = world.store.begin().await.unwrap();
    store::accounts::change(&mut transaction, &Scope::Tenant(tenant.id), &change).await.unwrap();
    transaction.commit().await.unwrap();
}

async fn numbers(quota: &Quota, tenant: &Tenant) -> Numbers {
    quota.push(tenant.id, &tenant.scopes[2..]).await.unwrap().numbers.remove(0)
}

/// Case 29: split in burn order, then overdraft, in one step.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_charge_above_its_freeze_is_split_over_grants_then_overdraft() {
    let world = World::start().await;
    let tenant = world.tenant(0).await;
    world.open(&tenant).await;
    let plan = store::grants::NewGrant { kind: "plan".to_owned(), priority: 30, ..grant(&tenant, 50_000) };
    world.give(plan).await;
    world.give(grant(&tenant, 100_000)).await;
    allow(&world, &tenant, 0, (0, Some(20))).await;
    let quota = Quota::start(config(&world), world.store.clone()).await.unwrap();
    let freeze = admit(&quota, &tenant, 60_000, 60_000).await;
    let id = freeze.request_id();
    freeze.finish(Outcome::Final, amount(160_000), tenant.record(id)).recorded().await.unwrap();
    let parts = world
        .database
        .rows(&format!(
            "SELECT g.kind, a.amount FROM allocations a JOIN grants g ON g.id = a.grant_id WHERE a.request_id = '{}' ORDER BY a.amount",
            id.uuid()
        ))
        .await
        .unwrap();
    let parts: Vec<_> =
        parts.iter().map(|row| (row["kind"].as_str().unwrap(), row["amount"].as_i64().unwrap())).collect();
    assert_eq!(parts, [("plan", 50_000), ("gift", 100_000)]);
    let after = numbers(&quota, &tenant).await;
    assert_eq!(
        (after.overdraft_limit(), after.overdraft_used(), after.debt()),
        (amount(30_000), amount(10_000), Amount::ZERO)
    );
    quota.shutdown(Duration::from_secs(5)).await;
    world.assert_books(&tenant).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn credit_line_then_overdraft_then_nothing_and_the_next_grant_repays() {
    let world = World::start().await;
    let tenant = world.tenant(100).await;
    world.open(&tenant).await;
    allow(&world, &tenant, 30, (0, Some(20))).await;
    let quota = Quota::start(config(&world), world.store.clone()).await.unwrap();
    assert!(matches!(quota.admit(ask(&tenant, 151, 151)).await.unwrap(), Admission::Refused(_)));
    let freeze = admit(&quota, &tenant, 150, 150).await;
    let id = freeze.request_id();
    // An overrun is booked in full: 100 from the grant, 30 credit line, 20 overdraft, 10 debt.
    freeze.finish(Outcome::Final, amount(160), tenant.record(id)).recorded().await.unwrap();
    let after = numbers(&quota, &tenant).await;
    assert_eq!((after.overdraft_used(), after.debt(), after.remaining()), (amount(20), amount(10), Some(amount(-60))));
    assert!(matches!(quota.admit(ask(&tenant, 1, 1)).await.unwrap(), Admission::Refused(_)));
    // 60 are repaid by the next grant, the overdraft's percentage follows the new total.
    world.top_up(&tenant, 100).await;
    let after = numbers(&quota, &tenant).await;
    assert_eq!((after.total, after.used, after.remaining()), (Some(amount(200)), amount(160), Some(amount(40))));
    assert_eq!(
        (after.overdraft_limit(), after.overdraft_used(), after.debt()),
        (amount(40), Amount::ZERO, Amount::ZERO)
    );
    let freeze = admit(&quota, &tenant, 110, 110).await;
    let id = freeze.request_id();
    freeze.finish(Outcome::RolledBack, Amount::ZERO, tenant.record(id)).recorded().await.unwrap();
    assert!(matches!(quota.admit(ask(&tenant, 111, 111)).await.unwrap(), Admission::Refused(_)));
    quota.shutdown(Duration::from_secs(5)).await;
    world.assert_books(&tenant).await;
}

/// What is owed outlives the period: the plan's grant leaves with what it bore, the next one repays the rest.
#[tokio::test]
async fn debt_outlives_the_grants_end() {
    let world = World::start().await;
    let tenant = world.tenant(0).await;
    let end = time::OffsetDateTime::now_utc() + Duration::from_millis(400);
    world.give(store::grants::NewGrant { ends_at: Some(end), ..grant(&tenant, 100) }).await;
    let mut connection = world.store.acquire().await.unwrap();
    store::load::load(&mut connection, tenant.id, &tenant.scopes).await.unwrap();
    let row = tenant.row(RequestId::generate(), Outcome::Final, 130);
    quota::outcomes::record(&world.store, &[row]).await.unwrap();
    tokio::time::sleep(Duration::from_millis(450)).await;
    let after = store::load::apply_due(&mut connection, tenant.id).await.unwrap().unwrap();
    assert_eq!((after.total, after.used), (Some(Amount::ZERO), amount(30)));
    world.top_up(&tenant, 50).await;
    let after = store::accounts::snapshots(&mut connection, &[Scope::Tenant(tenant.id)]).await.unwrap().remove(0);
    assert_eq!((after.total, after.used), (Some(amount(50)), amount(30)));
    world.assert_sums(&tenant).await;
}
