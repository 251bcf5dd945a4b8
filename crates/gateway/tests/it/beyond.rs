//! What a caller is told near and beyond the end of a quota.

use std::time::Duration;

use serde_json::{Value, json};

use crate::house::House;

/// One fixed-price call (0.10) once nothing is in flight: status, warning, overage, body.
async fn call(house: &House) -> (u16, Option<String>, bool, reqwest::header::HeaderMap, Value) {
    house.settled().await;
    let response = house.chat("fixed", "[[sim out=5]]", json!({})).send().await.unwrap();
    let headers = response.headers().clone();
    let warning = headers.get("x-quota-warning").map(|value| value.to_str().unwrap().to_owned());
    let overage = headers.get("x-quota-overage").is_some_and(|value| value == "true");
    let status = response.status().as_u16();
    (status, warning, overage, headers, response.json().await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn warned_then_on_overdraft_then_payment_required() {
    let house = House::with("1.00").await;
    house.sql("UPDATE accounts SET overdraft_percent = 20, version = version + 1 WHERE level = 'tenant'").await;
    for number in 1..=12 {
        let (status, warning, overage, _, body) = call(&house).await;
        assert_eq!(status, 200, "{number}: {body}");
        let expected = match number {
            1..=9 => None,
            10 => Some("10%".to_owned()),
            _ => Some("0%".to_owned()),
        };
        assert_eq!((warning, overage), (expected, number > 10), "{number}");
    }
    let (status, _, _, headers, body) = call(&house).await;
    assert_eq!((status, &body["error"]["code"]), (402, &json!("payment_required")));
    assert_eq!(headers["x-should-retry"], "false");
    let overdraft = house.get("/v1/quota").await["overdraft"].clone();
    assert_eq!(
        overdraft,
        json!({"enabled": true, "limit": "0.20000000", "used": "0.20000000", "remaining": "0.00000000"})
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn without_overdraft_it_is_429_and_under_a_hard_stop_402() {
    let house = House::with("0.10").await;
    assert_eq!(call(&house).await.0, 200);
    let (status, _, _, headers, body) = call(&house).await;
    assert_eq!((status, &body["error"]["code"]), (429, &json!("insufficient_quota")));
    assert_eq!(
        (&headers["x-should-retry"], &headers["retry-after"]),
        (&"false".parse().unwrap(), &"60".parse().unwrap())
    );
    house.sql("UPDATE tenants SET settings = '{\"hard_stop\": true}'").await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let (status, _, _, headers, body) = call(&house).await;
    assert_eq!((status, &body["error"]["code"]), (402, &json!("payment_required")));
    assert_eq!(headers["x-should-retry"], "false");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_says_when_it_resets() {
    let house = House::with("5.00").await;
    let sql = "UPDATE api_keys SET budget_amount = 10000000, budget_period = 'day'";
    house.sql(sql).await;
    house.sql("UPDATE tenants SET time_zone = 'Asia/Kathmandu'").await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(call(&house).await.0, 200);
    let (status, _, _, headers, body) = call(&house).await;
    assert_eq!((status, &body["error"]["tollgate"]["level"]), (429, &json!("key")));
    let resets_at = body["error"]["tollgate"]["resets_at"].as_str().unwrap();
    assert!(resets_at.ends_with("T18:15:00Z"), "midnight in Kathmandu: {resets_at}");
    let after: u64 = headers["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=60).contains(&after));
    let levels = house.get("/v1/quota").await["levels"].clone();
    assert_eq!(levels[0]["resets_at"], resets_at);
}
