//! Events reach webhook endpoints over HTTP, whatever receivers do.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::receiver::{Receiver, SECRET, Setup, crossing, delivery, endpoint, settled, status};
use crate::world::World;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_arrives_once_signed_and_in_decimals() {
    let world = World::start().await;
    let (tenant, other) = (world.tenant(100_000_000).await, world.tenant(1).await);
    let receiver = Receiver::start().await;
    let own = endpoint(&world, Some(tenant.id), &receiver.url("/ok")).await;
    endpoint(&world, None, &receiver.url("/platform")).await;
    endpoint(&world, Some(other.id), &receiver.url("/other")).await;
    let _first = Setup::default().start(&world);
    let _second = Setup::default().start(&world);
    let began = Instant::now();
    let event = crossing(&world, &tenant).await;
    let seen = receiver.wait("/ok", 1, Duration::from_secs(5)).await.remove(0);
    let took = began.elapsed();
    assert!(took < Duration::from_secs(2), "the first attempt within two seconds: {took:?}");
    assert_eq!(seen.header("webhook-id"), event.to_string());
    assert!(seen.is_signed_with(SECRET));
    assert_eq!(seen.header("webhook-signature").split(' ').count(), 1);
    let body = seen.json();
    assert_eq!((&body["type"], &body["data"]["threshold_percent"]), (&json!("quota.low"), &json!(90)));
    assert_eq!(body["data"]["tenant_id"], json!(tenant.id));
    let quota = &body["data"]["quota"];
    assert_eq!(
        [&quota["total"], &quota["used"], &quota["frozen"], &quota["remaining"]],
        ["1.00000000", "0.90000000", "0.00000000", "0.10000000"]
    );
    let (attempts, last) = settled(&world, own, "delivered").await;
    assert_eq!((attempts, &last["status"], &last["error"]), (1, &json!(204), &json!(null)));
    receiver.wait("/platform", 1, Duration::from_secs(5)).await;
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert_eq!((receiver.at("/ok").await.len(), receiver.at("/platform").await.len()), (1, 1));
    assert!(receiver.at("/other").await.is_empty(), "another tenant's events are none of its business");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_reconcilers_deliver_each_event_once_and_in_one_order() {
    let world = World::start().await;
    let tenant = world.tenant(100_000_000).await;
    let receiver = Receiver::start().await;
    endpoint(&world, None, &receiver.url("/ok")).await;
    let _first = Setup::default().start(&world);
    let _second = Setup::default().start(&world);
    for _ in 0..40 {
        crossing(&world, &tenant).await;
    }
    receiver.wait("/ok", 40, Duration::from_secs(20)).await;
    tokio::time::sleep(Duration::from_millis(1000)).await;
    let mut ids: Vec<String> =
        receiver.at("/ok").await.iter().map(|seen| seen.header("webhook-id").to_owned()).collect();
    assert_eq!(ids.len(), 40);
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 40, "each once");
    let positions = world.database.rows("SELECT position FROM outbox ORDER BY position").await.unwrap();
    let positions: Vec<i64> = positions.iter().map(|row| row["position"].as_i64().unwrap()).collect();
    assert_eq!(positions, (1..=40).collect::<Vec<i64>>(), "without a gap");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failures_are_tried_again_with_the_same_id_and_then_given_up() {
    let world = World::start().await;
    let tenant = world.tenant(100).await;
    let receiver = Receiver::start().await;
    let failing = endpoint(&world, Some(tenant.id), &receiver.url("/fail")).await;
    let redirected = endpoint(&world, Some(tenant.id), &receiver.url("/redirect")).await;
    let nobody = endpoint(&world, Some(tenant.id), "http://127.0.0.1:1/").await;
    let _stop = Setup::default().start(&world);
    crossing(&world, &tenant).await;
    let (attempts, last) = settled(&world, failing, "failed").await;
    assert_eq!((attempts, &last["status"], &last["body"]), (3, &json!(500), &json!("no\u{fffd} luck")));
    let seen = receiver.at("/fail").await;
    assert_eq!(seen.len(), 3);
    assert!(seen.iter().all(|one| one.header("webhook-id") == seen[0].header("webhook-id")));
    assert!(seen.iter().all(|one| one.body == seen[0].body && one.is_signed_with(SECRET)));
    let (_, last) = settled(&world, redirected, "failed").await;
    assert_eq!((&last["status"], &last["error"]), (&json!(302), &json!("redirects are not followed")));
    assert!(receiver.at("/ok").await.is_empty(), "the redirect was not followed");
    let (attempts, last) = settled(&world, nobody, "failed").await;
    assert_eq!((attempts, &last["status"]), (3, &json!(null)));
    assert!(last["error"].as_str().unwrap().contains("no connection"), "{last}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_endpoint_delays_no_other() {
    let world = World::start().await;
    let tenant = world.tenant(100).await;
    let receiver = Receiver::start().await;
    let slow = endpoint(&world, Some(tenant.id), &receiver.url("/hang")).await;
    let big = endpoint(&world, Some(tenant.id), &receiver.url("/big")).await;
    endpoint(&world, Some(tenant.id), &receiver.url("/ok")).await;
    let _stop = Setup { within: Duration::from_secs(30), ..Setup::default() }.start(&world);
    for _ in 0..20 {
        crossing(&world, &tenant).await;
    }
    let began = Instant::now();
    receiver.wait("/ok", 20, Duration::from_secs(20)).await;
    receiver.wait("/big", 20, Duration::from_secs(20)).await;
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    assert!(receiver.at("/hang").await.len() <= 4, "few attempts at one endpoint at once");
    let mut connection = world.store.acquire().await.unwrap();
    let slow = store::webhook_deliveries::list(&mut connection, slow, Some("pending"), None, 100).await.unwrap();
    assert_eq!(slow.len(), 20);
    tokio::time::sleep(Duration::from_millis(500)).await;
    let big = store::webhook_deliveries::list(&mut connection, big, Some("delivered"), None, 100).await.unwrap();
    assert_eq!(big.len(), 20);
    let body = big[0].attempts[0]["body"].as_str().unwrap();
    assert_eq!(body.len(), 16 * 1024, "of 16 MB no more is read");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attempt_that_hangs_ends_in_time() {
    let world = World::start().await;
    let tenant = world.tenant(100).await;
    let receiver = Receiver::start().await;
    let slow = endpoint(&world, Some(tenant.id), &receiver.url("/hang")).await;
    let _stop = Setup { within: Duration::from_millis(300), ..Setup::default() }.start(&world);
    crossing(&world, &tenant).await;
    let (attempts, last) = settled(&world, slow, "failed").await;
    assert_eq!(attempts, 3);
    assert_eq!(last["error"], "no whole reply within 0.3 s");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gone_and_long_failing_endpoints_are_disabled_and_that_is_told() {
    let world = World::start().await;
    let tenant = world.tenant(100).await;
    let receiver = Receiver::start().await;
    let gone = endpoint(&world, Some(tenant.id), &receiver.url("/gone")).await;
    endpoint(&world, Some(tenant.id), &receiver.url("/ok")).await;
    let stop = Setup::default().start(&world);
    crossing(&world, &tenant).await;
    let (attempts, _) = settled(&world, gone, "failed").await;
    assert_eq!((attempts, status(&world, gone).await), (1, ("disabled".to_owned(), Some("gone".to_owned()))));
    let told = receiver.wait("/ok", 2, Duration::from_secs(5)).await;
    let told: Vec<_> = told.iter().map(|seen| seen.json()).filter(|body| body["type"] == "endpoint.disabled").collect();
    assert_eq!((told.len(), &told[0]["data"]["webhook_id"]), (1, &json!(gone)));
    let audited =
        world.database.value("SELECT count(*) FROM audit_log WHERE action = 'webhook.disable'").await.unwrap();
    assert_eq!(audited, 1);
    crossing(&world, &tenant).await;
    receiver.wait("/ok", 3, Duration::from_secs(5)).await;
    assert_eq!(receiver.at("/gone").await.len(), 1, "nothing more is sent");
    drop(stop);

    let failing = endpoint(&world, None, &receiver.url("/fail")).await;
    let _stop =
        Setup { disable_after: Duration::from_millis(300), schedule: "0,400ms,1h", ..Setup::default() }.start(&world);
    crossing(&world, &tenant).await;
    let (attempts, _) = settled(&world, failing, "failed").await;
    assert_eq!((attempts, status(&world, failing).await.1), (2, Some("failing".to_owned())));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_rotation_both_secrets_sign_until_the_old_one_ends() {
    const NEW: &str = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    let world = World::start().await;
    let tenant = world.tenant(100).await;
    let receiver = Receiver::start().await;
    let id = endpoint(&world, Some(tenant.id), &receiver.url("/ok")).await;
    let mut transaction = world.store.begin().await.unwrap();
    let sealed = crate::receiver::sealer().seal(&id.to_string(), NEW).unwrap();
    let until = time::OffsetDateTime::now_utc() + time::Duration::seconds(3);
    store::webhooks::rotate_secret(&mut transaction, id, &sealed, until).await.unwrap();
    transaction.commit().await.unwrap();
    let _stop = Setup::default().start(&world);
    crossing(&world, &tenant).await;
    let seen = receiver.wait("/ok", 1, Duration::from_secs(3)).await;
    assert!(seen[0].is_signed_with(SECRET) && seen[0].is_signed_with(NEW));
    tokio::time::sleep(Duration::from_secs(3)).await;
    crossing(&world, &tenant).await;
    let seen = receiver.wait("/ok", 2, Duration::from_secs(5)).await;
    assert!(!seen[1].is_signed_with(SECRET) && seen[1].is_signed_with(NEW));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_claimed_by_a_reconciler_that_died_is_delivered_later() {
    let world = World::start().await;
    let tenant = world.tenant(100).await;
    let receiver = Receiver::start().await;
    let id = endpoint(&world, Some(tenant.id), &receiver.url("/ok")).await;
    crossing(&world, &tenant).await;
    tollgate_reconciler::deliver::fan_out::pass(&world.ledger, &world.store, false).await.unwrap();
    let mut connection = world.store.acquire().await.unwrap();
    let claimed = store::webhook_deliveries::claim(&mut connection, &[], 4, 10, 1500).await.unwrap();
    assert_eq!(claimed.len(), 1);
    assert!(store::webhook_deliveries::claim(&mut connection, &[], 4, 10, 1500).await.unwrap().is_empty());
    let _stop = Setup::default().start(&world);
    tokio::time::sleep(Duration::from_millis(800)).await;
    assert_eq!(delivery(&world, id).await.1, 0, "whoever holds the claim delivers it, nobody else");
    receiver.wait("/ok", 1, Duration::from_secs(5)).await;
}
