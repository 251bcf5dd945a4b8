//! Plans: the first request after a renewal passes, without a timer; periods that were missed; zones.

use std::time::Duration;

use domain::grant::Plan;
use domain::period::{PeriodKind, Renewal, Zone};
use domain::record::Outcome;
use domain::{PeriodLabel, Scope};
use jiff::{SignedDuration, Timestamp};
use quota::{Admission, Quota};

use crate::life::{ask, config};
use crate::world::{Tenant, World, amount, grant};

async fn with_plan(world: &World, kind: PeriodKind, zone: &str, units: i64, renews_at: Timestamp) -> Tenant {
    let tenant = world.tenant(0).await;
    let (id, word) = (tenant.id.uuid(), kind.as_str());
    let sql = format!("UPDATE tenants SET period_kind = '{word}', time_zone = '{zone}' WHERE id = '{id}'");
    world.database.execute(&sql).await.unwrap();
    let zone = Zone::parse(zone).unwrap();
    let renews_at = Timestamp::from_microsecond(renews_at.as_microsecond()).unwrap();
    let renewal = Renewal::sticking_to(kind, &zone, renews_at);
    let plan = Plan { amount: amount(units), priority: 30, renews_at, renewal, zone };
    let starts_at = time::OffsetDateTime::from_unix_timestamp(renews_at.as_second() - 86_400).unwrap();
    let first = store::grants::NewGrant {
        kind: "plan".to_owned(),
        priority: 30,
        starts_at: Some(starts_at),
        ..grant(&tenant, units)
    };
    let mut transaction = world.store.begin().await.unwrap();
    store::plans::begin(&mut transaction, &first, &plan).await.unwrap();
    transaction.commit().await.unwrap();
    tenant
}

/// Case 10: a period ends while a client calls ten times a second with its quota used up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_request_of_a_new_period_passes() {
    let world = World::start().await;
    let renews_at = Timestamp::now() + SignedDuration::from_secs(3);
    let tenant = with_plan(&world, PeriodKind::Month, "Asia/Kathmandu", 50, renews_at).await;
    world.open(&tenant).await;
    let gateways = [
        Quota::start(config(&world), world.store.clone()).await.unwrap(),
        Quota::start(config(&world), world.store.clone()).await.unwrap(),
    ];
    let mut first_after = None;
    let (mut served, mut refused) = (0, 0);
    while Timestamp::now() < renews_at + SignedDuration::from_secs(1) {
        let asked_at = Timestamp::now();
        let admission = gateways[served % 2].admit(ask(&tenant, 10, 10)).await.unwrap();
        let passed = matches!(admission, Admission::Admitted(_));
        if asked_at >= renews_at && first_after.is_none() {
            first_after = Some(passed);
        }
        match admission {
            Admission::Admitted(freeze) => {
                served += 1;
                let record = tenant.record(freeze.request_id());
                freeze.finish(Outcome::Final, amount(10), record).recorded().await.unwrap();
            }
            _ => refused += 1,
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!((first_after, served), (Some(true), 10), "five of each period");
    assert!(refused > 5, "{refused}");
    for gateway in gateways {
        gateway.shutdown(Duration::from_secs(5)).await;
    }
    world.assert_books(&tenant).await;
    let row = plan_row(&world, &tenant).await;
    let zone = Zone::parse("Asia/Kathmandu").unwrap();
    let next = Renewal::sticking_to(PeriodKind::Month, &zone, renews_at).next_after(&zone, renews_at);
    assert_eq!(row, next.as_second());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_at_once_renew_once() {
    let world = World::start().await;
    let renews_at = Timestamp::now() + SignedDuration::from_millis(1_500);
    let tenant = with_plan(&world, PeriodKind::Day, "UTC", 70, renews_at).await;
    world.open(&tenant).await;
    let quota = Quota::start(config(&world), world.store.clone()).await.unwrap();
    let admitted = quota.admit(ask(&tenant, 70, 70)).await.unwrap();
    let Admission::Admitted(old) = admitted else { panic!("{admitted:?}") };
    tokio::time::sleep(Duration::from_millis(1_450)).await;
    let calls = (0..60).map(|_| {
        let (quota, ask) = (quota.clone(), ask(&tenant, 10, 10));
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(150)).await;
            quota.admit(ask).await.unwrap()
        })
    });
    let mut pending = Vec::new();
    for outcome in futures_util::future::join_all(calls).await {
        if let Admission::Admitted(freeze) = outcome.unwrap() {
            let record = tenant.record(freeze.request_id());
            pending.push(freeze.finish(Outcome::Final, amount(10), record));
        }
    }
    assert_eq!(pending.len(), 7);
    let record = tenant.record(old.request_id());
    pending.push(old.finish(Outcome::Final, amount(70), record));
    for pending in pending {
        pending.recorded().await.unwrap();
    }
    quota.shutdown(Duration::from_secs(5)).await;
    world.assert_books(&tenant).await;
    let grants = world
        .database
        .value(&format!("SELECT count(*) FROM grants WHERE tenant_id = '{}'", tenant.id.uuid()))
        .await
        .unwrap();
    assert_eq!(grants.as_i64(), Some(2));
}

/// Periods that passed while nobody looked: each gave its grant, the oldest repaid what was owed, only the last is left.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn missed_periods_come_in_order_and_repay_what_is_owed() {
    let world = World::start().await;
    let renews_at = Timestamp::now() - SignedDuration::from_hours(24 * 3 + 1);
    let tenant = with_plan(&world, PeriodKind::Day, "America/New_York", 100, renews_at).await;
    // 250 were spent: 100 by the first grant, 150 are owed.
    let id = domain::RequestId::generate();
    load_without_due(&world, &tenant).await;
    quota::outcomes::record(&world.store, &[tenant.row(id, Outcome::Final, 250)]).await.unwrap();
    let mut connection = world.store.acquire().await.unwrap();
    let loaded = store::load::load(&mut connection, tenant.id, &tenant.scopes).await.unwrap();
    let snapshot = loaded.snapshots.last().unwrap();
    assert_eq!((snapshot.total, snapshot.used), (Some(amount(100)), amount(0)));
    assert!(loaded.wait_ms.is_some_and(|wait| wait > 0));
    let rows = world
        .database
        .rows(&format!(
            "SELECT status, used FROM grant_balances WHERE tenant_id = '{}' ORDER BY starts_at",
            tenant.id.uuid()
        ))
        .await
        .unwrap();
    let rows: Vec<_> =
        rows.iter().map(|row| (row["status"].as_str().unwrap(), row["used"].as_i64().unwrap())).collect();
    let expected = [("lapsed", 100), ("lapsed", 100), ("lapsed", 50), ("lapsed", 0), ("in_force", 0)];
    assert_eq!(rows, expected);
    world.assert_sums(&tenant).await;
    let again = store::load::apply_due(&mut connection, tenant.id).await.unwrap();
    assert_eq!(again, None, "it happens once");
}

/// A budget's period is part of its scope: a request that crosses the boundary settles into the one in which it was frozen.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_across_a_budgets_boundary_settles_where_it_was_frozen() {
    let world = World::start().await;
    let tenant = world.tenant_with(1_000, Some(100), None).await;
    world.open(&tenant).await;
    let quota = Quota::start(config(&world), world.store.clone()).await.unwrap();
    let within = |label: &str| {
        let label = PeriodLabel::try_from(label.to_owned()).unwrap();
        let mut asked = ask(&tenant, 100, 100);
        asked.scopes[1] = Scope::Project(tenant.project, label);
        asked
    };
    let (before, after) = (within("m20261101"), within("m20261201"));
    let budgets = [before.scopes[1].clone(), after.scopes[1].clone()];
    let Admission::Admitted(old) = quota.admit(before).await.unwrap() else { panic!("not admitted") };
    assert!(matches!(quota.admit(within("m20261101")).await.unwrap(), Admission::Refused(_)));
    let Admission::Admitted(new) = quota.admit(after).await.unwrap() else { panic!("not admitted") };
    for (freeze, units) in [(old, 60), (new, 40)] {
        let record = tenant.record(freeze.request_id());
        freeze.finish(Outcome::Final, amount(units), record).recorded().await.unwrap();
    }
    let numbers = quota.read(tenant.id, &budgets).await.unwrap();
    let used: Vec<_> = numbers.iter().map(|numbers| numbers.used.units()).collect();
    assert_eq!(used, [60, 40]);
    quota.shutdown(Duration::from_secs(5)).await;
    world.assert_sums(&tenant).await;
}

/// Opens the budgets' accounts only, so that nothing of the tenant is applied yet.
async fn load_without_due(world: &World, tenant: &Tenant) {
    let mut connection = world.store.acquire().await.unwrap();
    store::load::load(&mut connection, tenant.id, &tenant.scopes[..2]).await.unwrap();
}

/// The plan's next renewal, in seconds.
async fn plan_row(world: &World, tenant: &Tenant) -> i64 {
    let sql = format!(
        "SELECT floor(extract(epoch FROM renews_at))::bigint FROM plans WHERE tenant_id = '{}'",
        tenant.id.uuid()
    );
    world.database.value(&sql).await.unwrap().as_i64().unwrap()
}

/// Case 33: a plan of the 1st at midnight keeps its civil time over both clock changes, and when the tenant moves.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_keeps_its_day_and_time_where_clocks_change_and_tenants_move() {
    let world = World::start().await;
    let at = |text: &str| text.parse::<Timestamp>().unwrap();
    let in_new_york = at("2099-04-01T04:00:00Z");
    let tenant = with_plan(&world, PeriodKind::Month, "America/New_York", 10, in_new_york).await;
    assert_eq!(plan_row(&world, &tenant).await, in_new_york.as_second());
    let sql = format!("UPDATE tenants SET time_zone = 'Asia/Shanghai' WHERE id = '{}'", tenant.id.uuid());
    world.database.execute(&sql).await.unwrap();
    let mut transaction = world.store.begin().await.unwrap();
    let before = Zone::parse("America/New_York").unwrap();
    store::plans::move_zone(&mut transaction, tenant.id, &before, "test").await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(plan_row(&world, &tenant).await, at("2099-03-31T16:00:00Z").as_second());
    let ends = world
        .database
        .value(&format!(
            "SELECT floor(extract(epoch FROM coalesce(ends_at, now())))::bigint FROM grant_balances WHERE tenant_id = '{}'",
            tenant.id.uuid()
        ))
        .await
        .unwrap();
    assert_eq!(ends.as_i64(), Some(at("2099-03-31T16:00:00Z").as_second()));
}
