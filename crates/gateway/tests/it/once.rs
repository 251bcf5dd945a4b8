//! `Idempotency-Key`: the same call again gets what the first one came to, and is charged once.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::house::{House, request_id};

/// Calls a fixed-price model under a key. Returns the reply with its body.
async fn call(house: &House, key: &str, message: &str, more: Value) -> (reqwest::StatusCode, http::HeaderMap, String) {
    let response = house.chat("fixed", message, more).header("idempotency-key", key).send().await.unwrap();
    (response.status(), response.headers().clone(), response.text().await.unwrap())
}

fn code(body: &str) -> Value {
    serde_json::from_str::<Value>(body).unwrap()["error"]["code"].clone()
}

const PRICE: i64 = 10_000_000;

#[tokio::test]
async fn a_retry_gets_the_first_reply_and_is_not_charged() {
    let house = House::with("1.00").await;
    let (status, first, body) = call(&house, "a", "[[sim out=20]]", json!({})).await;
    assert_eq!(status, 200, "{body}");
    house.settled().await;
    for _ in 0..3 {
        let (status, headers, again) = call(&house, "a", "[[sim out=20]]", json!({})).await;
        assert_eq!((status.as_u16(), &again), (200, &body));
        assert_eq!(
            (&headers["content-type"], headers["idempotent-replayed"].as_bytes()),
            (&first["content-type"], &b"true"[..])
        );
        assert_eq!(headers["x-tollgate-first-request-id"], first["x-request-id"]);
        assert_ne!(headers["x-request-id"], first["x-request-id"], "each request has an id of its own");
    }
    let (status, headers, other) = call(&house, "a", "[[sim out=21]]", json!({})).await;
    assert_eq!((status.as_u16(), code(&other)), (409, json!("idempotency_mismatch")));
    assert_eq!(headers["x-should-retry"], "false");
    assert_eq!((house.settled().await.used, house.served(1).await.len()), (PRICE, 1));
    let (status, _, _) = call(&house, "b", "[[sim out=20]]", json!({})).await;
    assert_eq!((status.as_u16(), house.settled().await.used), (200, 2 * PRICE));
    let kept = house.database.rows("SELECT sealed_reply, name_hash FROM idempotent_calls").await.unwrap();
    let kept = serde_json::to_string(&kept).unwrap();
    assert!(!kept.contains("chat.completion") && kept.len() > 500, "sealed: {kept}");
}

#[tokio::test]
async fn of_many_at_once_one_runs() {
    let house = House::with("1.00").await;
    house.sim.book().hold(0);
    let twins = join_all((0..20).map(|_| async { call(&house, "twin", "hi", json!({})).await }));
    let first = async {
        testkit::wait::until_async("the provider to hold one", Duration::from_secs(10), || async {
            Ok((house.sim.book().active().held == 1).then_some(()))
        })
        .await
        .unwrap();
        tokio::time::sleep(Duration::from_millis(500)).await;
        house.sim.book().release();
    };
    let (answers, ()) = tokio::join!(twins, first);
    let passed: Vec<_> = answers.iter().filter(|(status, ..)| *status == 200).collect();
    assert_eq!(passed.len(), 1);
    for (_, headers, body) in answers.iter().filter(|(status, ..)| *status != 200) {
        assert_eq!((code(body), headers["retry-after"].as_bytes()), (json!("idempotency_in_progress"), &b"1"[..]));
        assert_eq!(headers["x-should-retry"], "true");
    }
    let (status, _, again) = call(&house, "twin", "hi", json!({})).await;
    assert_eq!((status.as_u16(), &again), (200, &passed[0].2));
    assert_eq!((house.settled().await.used, house.served(1).await.len()), (PRICE, 1));
}

#[tokio::test]
async fn a_stream_is_told_to_be_done_with_its_charge() {
    let house = House::with("1.00").await;
    let (status, first, _) = call(&house, "s", "[[sim out=20]]", json!({"stream": true})).await;
    assert_eq!(status, 200);
    house.record(first["x-request-id"].to_str().unwrap()).await;
    let (status, _, body) = call(&house, "s", "[[sim out=20]]", json!({"stream": true})).await;
    assert_eq!((status.as_u16(), code(&body)), (409, json!("already_done")), "{body}");
    let tollgate = serde_json::from_str::<Value>(&body).unwrap()["error"]["tollgate"].clone();
    assert_eq!(
        (&tollgate["request_id"], &tollgate["charge"]),
        (&json!(first["x-request-id"].to_str().unwrap()), &json!("0.10000000"))
    );
    assert_eq!(house.settled().await.used, PRICE);
}

#[tokio::test]
async fn a_call_that_came_to_nothing_leaves_its_key_free() {
    let house = House::with("0.15").await;
    house.sim.book().hold(0);
    let failing = call(&house, "f", "[[sim fault=status:503]]", json!({}));
    let refused = async {
        testkit::wait::until_async("the provider to hold one", Duration::from_secs(10), || async {
            Ok((house.sim.book().active().held == 1).then_some(()))
        })
        .await
        .unwrap();
        let refused = call(&house, "r", "[[sim out=5]]", json!({})).await;
        house.sim.book().release();
        refused
    };
    let (failed, refused) = tokio::join!(failing, refused);
    assert_eq!((failed.0.as_u16(), code(&failed.2)), (502, json!("upstream_error")), "{}", failed.2);
    assert_eq!((refused.0.as_u16(), code(&refused.2)), (429, json!("insufficient_quota")));
    house.settled().await;
    let again = call(&house, "f", "[[sim fault=status:503]]", json!({})).await;
    assert_eq!(again.0, 502, "it is tried again: {}", again.2);
    house.served(2).await;
    house.settled().await;
    let passed = call(&house, "r", "[[sim out=5]]", json!({})).await;
    assert!(passed.0 == 200 && !passed.1.contains_key("idempotent-replayed"), "{}", passed.2);
    assert_eq!(house.settled().await.used, PRICE);
}

#[tokio::test]
async fn wrong_keys_are_named_and_the_switch_turns_it_off() {
    let mut house = House::with("1.00").await;
    for wrong in ["", "a b", &"x".repeat(256)] {
        let (status, _, body) = call(&house, wrong, "hi", json!({})).await;
        assert_eq!((status.as_u16(), code(&body)), (400, json!("invalid_header")), "{wrong:?}");
        assert!(body.contains("Idempotency-Key"));
    }
    house.start_gateway(&["--idempotency-keys", "false"]).await;
    for charged in 1..=2 {
        let (status, headers, _) = call(&house, "off", "hi", json!({})).await;
        assert!(status == 200 && !headers.contains_key("idempotent-replayed"));
        assert_eq!(house.settled().await.used, charged * PRICE);
    }
}

#[tokio::test]
async fn both_secrets_of_a_rotated_key_work_until_the_grace_ends() {
    let mut house = House::with("1.00").await;
    let stream = house.chat("sim-small", "[[sim out=60 delay_ms=30 chunks=60]]", json!({"stream": true}));
    let running = stream.send().await.unwrap();
    let id = request_id(&running);
    let (old, new) = (house.key.clone(), rotate(&house, Duration::from_secs(3)).await);
    let works = async |house: &House, key: &str| {
        let request = house.http.get(format!("{}/v1/quota", house.url)).bearer_auth(key);
        request.send().await.unwrap().status() == 200
    };
    assert!(works(&house, &old).await && works(&house, &new).await, "in the grace");
    running.text().await.unwrap();
    let key_id = house.key_id.uuid().to_string();
    assert_eq!(house.record(&id).await["key_id"], json!(key_id), "what was spent stays with the key");
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(!works(&house, &old).await && works(&house, &new).await, "after it");
    house.key = new;
    let next = rotate(&house, Duration::ZERO).await;
    testkit::wait::until_async("the old secret to end at once", Duration::from_secs(1), || async {
        Ok((!works(&house, &house.key).await).then_some(()))
    })
    .await
    .unwrap();
    assert!(works(&house, &next).await);
}

async fn rotate(house: &House, grace: Duration) -> String {
    let secret = domain::api_key::KeyText::generate(domain::api_key::KeyKind::Api, &rand::random());
    let store = store::Store::connect(&store::Config::new(house.database.app_url(), "test")).await.unwrap();
    let (hash, until) = (secret.hash(&house.secret), time::OffsetDateTime::now_utc() + grace);
    let mut transaction = store.begin().await.unwrap();
    store::keys::rotate(&mut transaction, house.key_id, &hash, secret.shown(), until).await.unwrap();
    transaction.commit().await.unwrap();
    secret.expose().to_owned()
}
