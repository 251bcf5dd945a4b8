//! Case 39: thresholds crossed by two gateways at once are told once each, for every scope, and again when armed.

use std::time::Duration;

use domain::record::Outcome;
use quota::{Admission, Quota};

use crate::life::{ask, config};
use crate::world::{Tenant, World, amount};

/// (kind of scope, percent) of every event so far, in order of percent.
async fn told(world: &World, tenant: &Tenant) -> Vec<(String, i64)> {
    let rows = world
        .database
        .rows(&format!(
            "SELECT data -> 'scope' ->> 'kind' AS kind, (data ->> 'threshold_percent')::int AS percent FROM outbox
             WHERE tenant_id = '{}' AND type = 'quota.low' ORDER BY 1, 2, id",
            tenant.id.uuid()
        ))
        .await
        .unwrap();
    rows.iter().map(|row| (row["kind"].as_str().unwrap().to_owned(), row["percent"].as_i64().unwrap())).collect()
}

/// Spends `times` x `units` over both gateways at once, every call admitted.
pub async fn spend(gateways: &[Quota; 2], tenant: &Tenant, times: usize, units: i64) {
    let calls = (0..times).map(|call| {
        let (quota, tenant) = (gateways[call % 2].clone(), tenant.clone());
        tokio::spawn(async move {
            let Admission::Admitted(freeze) = quota.admit(ask(&tenant, units, units)).await.unwrap() else {
                panic!("not admitted")
            };
            let record = tenant.record(freeze.request_id());
            freeze.finish(Outcome::Final, amount(units), record).recorded().await.unwrap();
        })
    });
    for call in futures_util::future::join_all(calls).await {
        call.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_crossing_is_told_once_per_arming() {
    let world = World::start().await;
    let tenant = world.tenant_with(1_000, Some(1_000), Some(1_000)).await;
    let sql = format!(
        "UPDATE tenants SET settings = '{{\"thresholds\": [50, 80, 95, 100]}}' WHERE id = '{}'",
        tenant.id.uuid()
    );
    world.database.execute(&sql).await.unwrap();
    world.open(&tenant).await;
    let gateways = [
        Quota::start(config(&world), world.store.clone()).await.unwrap(),
        Quota::start(config(&world), world.store.clone()).await.unwrap(),
    ];
    spend(&gateways, &tenant, 40, 10).await;
    assert_eq!(told(&world, &tenant).await, []);
    spend(&gateways, &tenant, 45, 10).await;
    let each = |percents: &[i64]| -> Vec<(String, i64)> {
        let kinds = ["key", "project", "tenant"];
        kinds.iter().flat_map(|kind| percents.iter().map(|percent| ((*kind).to_owned(), *percent))).collect()
    };
    assert_eq!(told(&world, &tenant).await, each(&[50, 80]));
    spend(&gateways, &tenant, 15, 10).await;
    assert_eq!(told(&world, &tenant).await, each(&[50, 80, 95, 100]));
    // A top-up arms what it leaves behind: 1 000 of 1 300 are 76 percent.
    world.top_up(&tenant, 300).await;
    for (scope, total) in [(&tenant.scopes[0], 2_000), (&tenant.scopes[1], 2_000)] {
        let mut transaction = world.store.begin().await.unwrap();
        let budget = store::accounts::Change { budget: Some(Some(amount(total))), ..Default::default() };
        store::accounts::change(&mut transaction, scope, &budget).await.unwrap();
        transaction.commit().await.unwrap();
    }
    assert!(gateways[0].push(tenant.id, &tenant.scopes).await.unwrap().in_force);
    spend(&gateways, &tenant, 10, 10).await;
    let mut expected = each(&[50, 80, 95, 100]);
    expected.push(("tenant".to_owned(), 80));
    expected.sort();
    assert_eq!(told(&world, &tenant).await, expected);
    for gateway in gateways {
        gateway.shutdown(Duration::from_secs(5)).await;
    }
    world.assert_books(&tenant).await;
}
