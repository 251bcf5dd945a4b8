//! Streams that end badly: what is charged.

use serde_json::{Value, json};

use crate::house::{House, cost, events, request_id};

#[tokio::test]
async fn a_provider_that_dies_mid_stream_is_charged_for_what_was_relayed() {
    let house = House::with("1.00").await;
    for fault in ["reset:5", "close:5", "error:5", "stall:5"] {
        let before = house.settled().await.used;
        let response = house
            .chat("sim-small", &format!("[[sim out=100 chunks=10 fault={fault}]]"), json!({"stream": true}))
            .send()
            .await
            .unwrap();
        assert_eq!(response.status(), 200, "{fault}");
        let id = request_id(&response);
        let text = response.text().await.unwrap();
        let record = house.record(&id).await;
        let output = record["usage"]["output"].as_u64().unwrap();
        assert!((40..=60).contains(&output), "{fault}: {output}");
        assert_eq!((&record["estimated"], &record["outcome"]), (&json!(true), &json!("final")), "{fault}");
        assert_eq!(
            house.settled().await.used - before,
            cost(record["usage"]["input"].as_u64().unwrap(), output),
            "{fault}"
        );
        if fault != "close:5" {
            let error = events(&text)
                .iter()
                .filter_map(|event| serde_json::from_str::<Value>(event).ok())
                .find(|chunk| chunk["error"].is_object());
            assert!(error.is_some(), "{fault}: the client is told: {text}");
        }
    }
}

#[tokio::test]
async fn a_usage_that_lies_is_charged_as_reported() {
    let house = House::with("1.00").await;
    for stream in [false, true] {
        let response =
            house.chat("sim-small", "[[sim out=20 usage=lie:+5]]", json!({"stream": stream})).send().await.unwrap();
        let id = request_id(&response);
        response.bytes().await.unwrap();
        assert_eq!(house.record(&id).await["usage"]["output"], 25);
    }
}

#[tokio::test]
async fn cached_tokens_are_part_of_the_prompt() {
    let house = House::with("1.00").await;
    let response = house.chat("sim-small", "[[sim out=20 prompt=1000 cached=400]]", json!({})).send().await.unwrap();
    let record = house.record(&request_id(&response)).await;
    assert_eq!((&record["usage"]["input"], &record["usage"]["cached_input"]), (&json!(600), &json!(400)));
    assert_eq!(record["charged"], cost(1_000, 20));
}
