//! The hourly comparison: each alert opens once and closes by itself, what is wrong in Redis is repaired, what does not add up
//! is halted, and load is no alarm.

use std::time::Duration;

use domain::record::Outcome;
use domain::{Amount, GrantId, RequestId, Shard};
use quota::Quota;
use quota::reconcile::Tenant as Compared;
use serde_json::{Value, json};
use store::comparisons::Counts;
use testkit::redis::Reply;
use time::OffsetDateTime;
use tollgate_reconciler::compare::Comparer;

use crate::life::{admit, config};
use crate::receiver::{Receiver, Setup, endpoint};
use crate::thresholds::spend;
use crate::world::{Tenant, World, amount, grant};

/// A whole comparison, whatever was compared before.
async fn compare(world: &World) -> Counts {
    let mut comparer = Comparer::new(Duration::ZERO);
    loop {
        if let Some(counts) = comparer.pass(&world.ledger, &world.store).await.unwrap() {
            return counts;
        }
    }
}

/// Books a charge for which so much was frozen.
async fn book(world: &World, tenant: &Tenant, units: i64, frozen: i64) {
    let mut row = tenant.row(RequestId::generate(), Outcome::Final, units);
    row.record.frozen = amount(frozen);
    let mut transaction = world.store.begin().await.unwrap();
    store::load::load(&mut transaction, tenant.id, &tenant.scopes).await.unwrap();
    store::record::record(&mut transaction, std::slice::from_ref(&row)).await.unwrap();
    transaction.commit().await.unwrap();
}

/// Kind, grade and whether it is open, of the tenant's alerts of all levels, the oldest first.
async fn alerts(world: &World, tenant: &Tenant) -> Vec<(String, String, bool)> {
    let sql = format!(
        "SELECT kind, grade, closed_at IS NULL AS open FROM alerts WHERE tenant_id = '{}' ORDER BY id",
        tenant.id.uuid()
    );
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let rows = world.database.rows(&sql).await.unwrap();
    rows.iter().map(|row| (text(&row["kind"]), text(&row["grade"]), row["open"] == true)).collect()
}

fn alert(kind: &str, grade: &str, open: bool) -> (String, String, bool) {
    (kind.to_owned(), grade.to_owned(), open)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_and_thresholds_open_once_and_close_by_themselves() {
    let world = World::start().await;
    let (well, near, debtor, tolerated) =
        (world.tenant(1_000).await, world.tenant(1_000).await, world.tenant(1_000).await, world.tenant(1_000).await);
    book(&world, &well, 899, 899).await;
    book(&world, &near, 900, 900).await;
    // 5 % of the largest freeze are tolerated.
    book(&world, &debtor, 1_051, 1_000).await;
    book(&world, &tolerated, 1_050, 1_000).await;
    let warned = |open| alert("near_threshold", "warning", open);
    for _ in 0..2 {
        let counts = compare(&world).await;
        assert_eq!((counts.accounts, counts.differences, counts.alerts), (12, 0, 4));
        assert_eq!(alerts(&world, &well).await, []);
        assert_eq!(alerts(&world, &near).await, [warned(true)]);
        assert_eq!(alerts(&world, &debtor).await, [alert("beyond_limit", "urgent", true), warned(true)]);
        assert_eq!(alerts(&world, &tolerated).await, [warned(true)]);
    }
    let sql = "SELECT bool_and(seen_at > opened_at) AND bool_and(remedy <> '') FROM alerts";
    assert_eq!(world.database.value(sql).await.unwrap(), json!(true), "seen again, each with a remedy");
    for tenant in [&near, &debtor] {
        world.top_up(tenant, 1_000).await;
    }
    compare(&world).await;
    assert_eq!(alerts(&world, &near).await, [warned(false)]);
    assert_eq!(alerts(&world, &debtor).await, [alert("beyond_limit", "urgent", false), warned(false)]);
    // Once more: another alert, for the first one is history.
    book(&world, &near, 1_000, 1_000).await;
    compare(&world).await;
    assert_eq!(alerts(&world, &near).await, [warned(false), warned(true)]);
    let close = format!("UPDATE tenants SET status = 'closed' WHERE id = '{}'", near.id.uuid());
    world.database.execute(&close).await.unwrap();
    compare(&world).await;
    assert_eq!(alerts(&world, &near).await, [warned(false), warned(false)], "nobody compares what is closed");
    let kept = format!("SELECT count(*) FROM snapshots WHERE scope = '{}'", well.scopes[2]);
    assert_eq!(world.database.value(&kept).await.unwrap(), json!(5), "one per comparison");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unusual_consumption_is_told_once_per_opening_and_an_idle_plan_hinted_at() {
    let world = World::start().await;
    let (busy, idle) = (world.tenant(1_000_000).await, world.tenant(1_000_000).await);
    let receiver = Receiver::start().await;
    let webhook = endpoint(&world, Some(busy.id), &receiver.url("/ok")).await;
    let wants =
        format!("UPDATE webhook_endpoints SET event_types = '{{usage.anomaly}}' WHERE id = '{}'", webhook.uuid());
    world.database.execute(&wants).await.unwrap();
    let _stop = Setup::default().start(&world);
    // The sums of what was booked, moved back as if the time had passed.
    let passes = async |minutes: i64| {
        let sql = format!("UPDATE usage_quarters SET quarter = quarter - interval '{minutes} minutes'");
        world.database.execute(&sql).await.unwrap();
    };
    book(&world, &busy, 24_000, 24_000).await;
    passes(600).await;
    book(&world, &busy, 10_001, 10_001).await;
    passes(15).await;
    let unusual = |open| alert("unusual_consumption", "warning", open);
    for _ in 0..2 {
        compare(&world).await;
        assert_eq!(alerts(&world, &busy).await, [unusual(true)]);
    }
    let seen = receiver.wait("/ok", 1, Duration::from_secs(5)).await;
    let data = &seen[0].json()["data"];
    assert_eq!(
        [&data["last_hour"], &data["day_before"], &data["same_hour_before"], &data["quota"]["used"]],
        ["0.00010001", "0.00024000", "0.00000000", "0.00034001"],
        "{data}"
    );
    passes(60).await;
    compare(&world).await;
    assert_eq!(alerts(&world, &busy).await, [unusual(false)]);
    book(&world, &busy, 10_001, 10_001).await;
    passes(30).await;
    compare(&world).await;
    // 3 x 34 001 / 24 is below 10 001: unusual again.
    assert_eq!(alerts(&world, &busy).await, [unusual(false), unusual(true)]);
    let seen = receiver.wait("/ok", 2, Duration::from_secs(5)).await;
    assert_eq!(seen.len(), 2, "once per opening");

    let sql = format!(
        "UPDATE tenants SET created_at = now() - interval '8 days' WHERE id = '{0}';
         INSERT INTO plans (tenant_id, amount, priority, renews_at, anchor_day, anchor_time, created_by)
         VALUES ('{0}', 100000000000, 30, now() + interval '20 days', 1, '00:00', 'test')",
        idle.id.uuid()
    );
    world.database.execute(&sql).await.unwrap();
    book(&world, &idle, 50_000_000, 50_000_000).await;
    world.top_up(&idle, 100_000_000_000).await;
    compare(&world).await;
    assert_eq!(alerts(&world, &idle).await, [alert("plan_too_large", "hint", true)]);
    let remedy = world.database.value("SELECT remedy FROM alerts WHERE grade = 'hint'").await.unwrap();
    assert!(remedy.as_str().unwrap().ends_with("one of 5.00000000 per month would do"), "{remedy}");
}

/// The key of the tenant's own account in Redis.
fn account(tenant: &Tenant) -> String {
    format!("tg:{{q{:04}}}:a:{}", Shard::of(tenant.id).index(), tenant.id)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_spoilt_copy_is_repaired_and_a_wrong_sum_halts() {
    let world = World::start().await;
    let (spoilt, wrong) = (world.tenant(1_000).await, world.tenant(1_000).await);
    let quota = Quota::start(config(&world), world.store.clone()).await.unwrap();
    for tenant in [&spoilt, &wrong] {
        world.open(tenant).await;
        let freeze = admit(&quota, tenant, 10, 10).await;
        let record = tenant.record(freeze.request_id());
        freeze.finish(Outcome::Final, amount(10), record).recorded().await.unwrap();
    }
    let held = admit(&quota, &spoilt, 100, 100).await;
    assert_eq!(compare(&world).await, Counts { accounts: 6, ..Counts::default() });

    assert_eq!(world.redis.command(&["HSET", &account(&spoilt), "used", "1"]).unwrap(), Reply::Int(0));
    let mut dry = Compared::new(spoilt.id, true);
    let found = dry.next(&world.ledger, &world.store).await.unwrap().unwrap();
    assert_eq!(found, Counts { accounts: 3, differences: 1, repaired: 0, alerts: 1 });
    assert!(dry.next(&world.ledger, &world.store).await.unwrap().is_none());
    assert_eq!(alerts(&world, &spoilt).await, [], "a dry run only looks");
    assert_eq!(world.redis.command(&["HGET", &account(&spoilt), "used"]).unwrap(), Reply::Text("1".to_owned()));

    let tampered = format!("UPDATE accounts SET spent_sum = spent_sum + 1 WHERE scope = '{}'", wrong.scopes[2]);
    world.database.execute(&tampered).await.unwrap();
    assert_eq!(compare(&world).await, Counts { accounts: 6, differences: 2, repaired: 1, alerts: 2 });
    assert_eq!(alerts(&world, &spoilt).await, [alert("copy_differs", "warning", true)]);
    assert_eq!(alerts(&world, &wrong).await, [alert("sums_differ", "urgent", true)]);
    // The next request loads what Postgres has, and what is in flight is still there.
    let next = admit(&quota, &spoilt, 1, 1).await;
    let numbers = quota.read(spoilt.id, &spoilt.scopes[2..]).await.unwrap();
    assert_eq!((numbers[0].used, numbers[0].frozen), (amount(10), amount(101)));
    let refused = quota.admit(crate::life::ask(&wrong, 1, 1)).await.unwrap();
    assert!(matches!(refused, quota::Admission::Inactive { .. }), "{refused:?}");
    assert_eq!(compare(&world).await, Counts { accounts: 6, differences: 1, repaired: 0, alerts: 1 });
    assert_eq!(alerts(&world, &spoilt).await, [alert("copy_differs", "warning", false)]);
    let audited = "SELECT jsonb_agg(jsonb_build_array(actor, action, target) ORDER BY id) FROM audit_log WHERE action ~ '^ledger'";
    let (repair, halt) =
        (json!(["reconciler", "ledger.repair", spoilt.id]), json!(["reconciler", "ledger.halt", wrong.id]));
    let mut expected = vec![repair, halt];
    if spoilt.id > wrong.id {
        expected.reverse();
    }
    assert_eq!(world.database.value(audited).await.unwrap(), json!(expected), "each once");

    for (freeze, units) in [(held, 100), (next, 1)] {
        let record = spoilt.record(freeze.request_id());
        freeze.finish(Outcome::Final, amount(units), record).recorded().await.unwrap();
    }
    assert_eq!(quota.shutdown(Duration::from_secs(5)).await, 0);
    world.assert_books(&spoilt).await;
    // Redis knows a version that Postgres has not: lost commits. Nothing of Redis is taken over, and nothing repaired.
    world.redis.command(&["HINCRBY", &account(&spoilt), "version", "3"]).unwrap();
    let counts = compare(&world).await;
    assert_eq!((counts.differences, counts.repaired), (2, 0));
    let found = alerts(&world, &spoilt).await;
    assert_eq!(found.last(), Some(&alert("copy_ahead", "urgent", true)), "{found:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_at_once_open_and_tell_once_and_load_is_no_alarm() {
    let world = World::start().await;
    // Spent to the last unit, while everything is compared again and again.
    let tenant = world.tenant_with(2_000, Some(2_000), None).await;
    world.open(&tenant).await;
    let gateways = [
        Quota::start(config(&world), world.store.clone()).await.unwrap(),
        Quota::start(config(&world), world.store.clone()).await.unwrap(),
    ];
    let several = async || {
        let mut compared = Counts::default();
        for _ in 0..8 {
            let (one, other) = tokio::join!(compare(&world), compare(&world));
            compared += one;
            compared += other;
        }
        compared
    };
    let (compared, ()) = tokio::join!(several(), spend(&gateways, &tenant, 200, 10));
    assert!(compared.accounts >= 16 && compared.differences == 0 && compared.repaired == 0, "{compared:?}");
    compare(&world).await;
    let warned = alert("near_threshold", "warning", true);
    assert_eq!(alerts(&world, &tenant).await, [warned.clone(), warned], "of project and tenant, and nothing else ever");
    let runs = "SELECT count(*) FROM reconciliations WHERE state = 'done'";
    assert!(world.database.value(runs).await.unwrap().as_i64().unwrap() >= 1);
    for gateway in gateways {
        gateway.shutdown(Duration::from_secs(5)).await;
    }
    world.assert_books(&tenant).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_runs_over_a_grants_end_is_no_alarm_and_what_is_over_warns_nobody() {
    let world = World::start().await;
    let tenant = world.tenant(0).await;
    world.open(&tenant).await;
    let ends = OffsetDateTime::now_utc() + Duration::from_secs(2);
    world.give(store::grants::NewGrant { id: GrantId::generate(), ends_at: Some(ends), ..grant(&tenant, 100) }).await;
    let quota = Quota::start(config(&world), world.store.clone()).await.unwrap();
    let held = admit(&quota, &tenant, 100, 100).await;
    let left = ends - OffsetDateTime::now_utc() + Duration::from_millis(20);
    tokio::time::sleep(left.try_into().unwrap_or_default()).await;
    tollgate_reconciler::due::pass(&world.ledger, &world.store).await.unwrap();
    // Nothing may be spent any more, and 100 are in flight: at what was left of the grant's cost.
    let numbers = quota.read(tenant.id, &tenant.scopes[2..]).await.unwrap();
    assert_eq!((numbers[0].limit, numbers[0].frozen), (Some(Amount::ZERO), amount(100)));
    compare(&world).await;
    assert_eq!(alerts(&world, &tenant).await, []);
    let record = tenant.record(held.request_id());
    held.finish(Outcome::Final, amount(100), record).recorded().await.unwrap();
    quota.shutdown(Duration::from_secs(5)).await;

    // A budget of a month that is over, used up; and one of a key that is disabled.
    let other = world.tenant_with(10_000, Some(1_000), Some(1_000)).await;
    book(&world, &other, 1_000, 1_000).await;
    compare(&world).await;
    let warned = |open| alert("near_threshold", "warning", open);
    assert_eq!(alerts(&world, &other).await, [warned(true), warned(true)]);
    let past = format!("{}:m20200101", other.project);
    let sql = format!(
        "UPDATE accounts SET scope = '{past}' WHERE scope = '{}'; UPDATE alerts SET scope = '{past}' WHERE scope = '{}';
         UPDATE api_keys SET status = 'disabled' WHERE id = '{}'",
        other.scopes[1],
        other.scopes[1],
        other.key.uuid()
    );
    world.database.execute(&sql).await.unwrap();
    compare(&world).await;
    assert_eq!(alerts(&world, &other).await, [warned(false), warned(false)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_next_one_is_due_an_interval_after_the_last_whoever_made_it() {
    let world = World::start().await;
    world.tenant(1_000).await;
    let hourly = || Comparer::new(Duration::from_secs(3_600));
    // A turn may end before the comparison does.
    let pass = async |mut comparer: Comparer| {
        for _ in 0..100 {
            if comparer.pass(&world.ledger, &world.store).await.unwrap().is_some() {
                return true;
            }
        }
        false
    };
    assert!(pass(hourly()).await, "at once where there was none");
    assert!(!pass(hourly()).await);
    world.database.execute("UPDATE reconciliations SET started_at = now() - interval '61 minutes'").await.unwrap();
    assert!(pass(hourly()).await);
    // Redis away: noted as failed, and not counted as one.
    world.database.execute("UPDATE reconciliations SET started_at = now() - interval '61 minutes'").await.unwrap();
    world
        .database
        .execute("INSERT INTO reconciliations (id, dry_run, actor) VALUES (gen_random_uuid(), false, 'reconciler')")
        .await
        .unwrap();
    let World { redis, database, ledger, store } = world;
    drop(redis);
    assert!(hourly().pass(&ledger, &store).await.is_err());
    let states = "SELECT jsonb_agg(state ORDER BY state) FROM reconciliations";
    assert_eq!(database.value(states).await.unwrap(), json!(["done", "done", "failed", "failed"]));
}
