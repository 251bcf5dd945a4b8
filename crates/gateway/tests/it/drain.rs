//! `drain_on_abort`: the provider's own figure for a stream whose client has left.

use futures_util::StreamExt;
use serde_json::{Value, json};

use crate::house::{House, cost, request_id};

async fn house(credits: &str, flags: &[&str]) -> House {
    let mut house = House::with(credits).await;
    house.start_gateway(flags).await;
    let settings = r#"{"drain_on_abort": true}"#;
    house.sql(&format!("UPDATE tenants SET settings = '{settings}' WHERE id = '{}'", house.tenant_id.uuid())).await;
    house
}

/// Starts a stream and leaves it after some events; its request id.
async fn leave(house: &House, script: &str) -> String {
    let response = house.chat("sim-small", script, json!({"stream": true})).send().await.unwrap();
    let id = request_id(&response);
    let mut stream = response.bytes_stream();
    for _ in 0..5 {
        stream.next().await.unwrap().unwrap();
    }
    id
}

fn output(record: &Value) -> u64 {
    record["usage"]["output"].as_u64().unwrap()
}

#[tokio::test]
async fn a_stream_whose_client_left_is_read_to_its_true_usage() {
    let house = house("1.00", &[]).await;
    // It also grows beyond what was frozen at first.
    let id = leave(&house, "[[sim out=2000 chunks=100 delay_ms=5 usage=lie:+3]]").await;
    let record = house.record(&id).await;
    assert_eq!((output(&record), &record["estimated"], &record["overrun"]), (2_003, &json!(false), &json!(false)));
    assert_eq!(record["charged"], cost(record["usage"]["input"].as_u64().unwrap(), 2_003));
    assert!(record["extensions"].as_u64().unwrap() > 0);
    assert_eq!(house.served(1).await[0].output_tokens_sent, 2_000);
    // A provider that dies after all: what was relayed.
    let id = leave(&house, "[[sim out=400 chunks=100 delay_ms=5 fault=close:60]]").await;
    let record = house.record(&id).await;
    assert!((1..200).contains(&output(&record)), "{record}");
    assert_eq!(record["estimated"], true);
}

#[tokio::test]
async fn reading_on_is_bounded_in_time_and_in_number() {
    for flags in [["--abort-drain-s", "1"], ["--abort-drains", "0"]] {
        let house = house("1.00", &flags).await;
        let id = leave(&house, "[[sim out=1000 chunks=1000 delay_ms=10]]").await;
        let record = house.record(&id).await;
        assert!((1..200).contains(&output(&record)), "{flags:?}: what was relayed: {record}");
        assert_eq!(record["estimated"], true);
        let sent = house.served(1).await[0].output_tokens_sent;
        assert!(sent < 400, "{flags:?}: the upstream was closed: {sent}");
    }
}

#[tokio::test]
async fn reading_on_ends_with_the_quota() {
    // About 500 tokens of answer.
    let house = house("0.00100000", &[]).await;
    let id = leave(&house, "[[sim out=4000 chunks=800 delay_ms=2]]").await;
    let record = house.record(&id).await;
    assert!(house.settled().await.remaining >= 0, "{record}");
    assert!(house.served(1).await[0].output_tokens_sent < 1_500);
}
