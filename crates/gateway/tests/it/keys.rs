//! Keys: wrong ones, and changes that hold within a second.

use std::time::{Duration, Instant};

use domain::api_key::{KeyKind, KeyText};
use serde_json::{Value, json};

use crate::house::House;

async fn status(house: &House, key: &str) -> (u16, Value) {
    let response = house.http.get(format!("{}/v1/models", house.url)).header("x-api-key", key).send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

/// How long it takes until the key answers with `wanted`.
async fn until(house: &House, wanted: u16) -> Duration {
    let began = Instant::now();
    while status(house, &house.key).await.0 != wanted {
        assert!(began.elapsed() < Duration::from_secs(10));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    began.elapsed()
}

#[tokio::test]
async fn wrong_keys_are_refused_alike() {
    let house = House::with("1.00").await;
    let stranger = KeyText::generate(KeyKind::Api, &[9; 32]);
    let service = KeyText::generate(KeyKind::Service, &[9; 32]);
    let mut mistyped = house.key.clone();
    mistyped.replace_range(20..21, if &mistyped[20..21] == "a" { "b" } else { "a" });
    for key in ["", "sk-1", stranger.expose(), service.expose(), &mistyped] {
        let (code, body) = status(&house, key).await;
        assert_eq!((code, &body["error"]["code"]), (401, &json!("invalid_api_key")), "{key}");
    }
    assert_eq!(status(&house, &house.key).await.0, 200);
}

#[tokio::test]
async fn changes_hold_within_a_second() {
    let house = House::with("1.00").await;
    let (key, project, tenant) = (house.key_id.uuid(), house.project_id.uuid(), house.tenant_id.uuid());
    let second = Duration::from_secs(1);
    assert_eq!(status(&house, &house.key).await.0, 200);
    for (change, wanted) in [
        (format!("UPDATE api_keys SET status = 'disabled' WHERE id = '{key}'"), 401),
        (format!("UPDATE api_keys SET status = 'active' WHERE id = '{key}'"), 200),
        (format!("UPDATE projects SET status = 'archived' WHERE id = '{project}'"), 401),
        (format!("UPDATE projects SET status = 'active' WHERE id = '{project}'"), 200),
        (format!("UPDATE tenants SET status = 'suspended' WHERE id = '{tenant}'"), 403),
        (format!("UPDATE tenants SET status = 'active' WHERE id = '{tenant}'"), 200),
        (format!("UPDATE api_keys SET expires_at = now() - interval '1 s' WHERE id = '{key}'"), 401),
        (format!("UPDATE api_keys SET expires_at = NULL WHERE id = '{key}'"), 200),
    ] {
        house.sql(&change).await;
        let took = until(&house, wanted).await;
        assert!(took < second, "{change}: {took:?}");
    }
}

#[tokio::test]
async fn a_key_sees_its_own_models_only() {
    let house = House::with("1.00").await;
    house.sql(&format!("UPDATE api_keys SET models = ARRAY['fixed'] WHERE id = '{}'", house.key_id.uuid())).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let models = house.get("/v1/models").await;
    assert_eq!(models["data"].as_array().unwrap().len(), 1);
    let response = house.chat("sim-small", "hi", json!({})).send().await.unwrap();
    assert_eq!(response.status(), 404);
    // A model whose price is yet to come is not sold.
    house.sql("UPDATE prices SET valid_from = now() + interval '1 hour'").await;
    let began = Instant::now();
    while house.chat("fixed", "hi", json!({})).send().await.unwrap().status() != 404 {
        assert!(began.elapsed() < Duration::from_secs(2));
    }
}

#[tokio::test]
async fn a_key_bound_to_addresses_works_from_there_alone() {
    let mut house = House::with("1.00").await;
    let bind = async |house: &House, range: &str| {
        let key = house.key_id.uuid();
        house.sql(&format!("UPDATE api_keys SET ip_ranges = ARRAY['{range}'] WHERE id = '{key}'")).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
    };
    let from = async |house: &House, forwarded: &'static str| {
        let request = house.http.get(format!("{}/v1/models", house.url)).bearer_auth(&house.key);
        request.header("x-forwarded-for", forwarded).send().await.unwrap().status().as_u16()
    };
    bind(&house, "192.0.2.0/24").await;
    assert_eq!(from(&house, "192.0.2.7").await, 403, "nobody is trusted to say so");
    bind(&house, "127.0.0.0/8").await;
    assert_eq!(from(&house, "203.0.113.1").await, 200);
    house.start_gateway(&["--trusted-proxies", "127.0.0.1"]).await;
    bind(&house, "192.0.2.0/24").await;
    assert_eq!(from(&house, "192.0.2.7").await, 200);
    assert_eq!(from(&house, "192.0.2.7, 203.0.113.1").await, 403, "the first hop is forged");
    let (code, body) = status(&house, &house.key).await;
    assert_eq!((code, &body["error"]["code"]), (403, &json!("address_not_allowed")));
}
