//! The guard of a stream: extended while quota lasts, then ended cleanly.

use serde_json::{Value, json};

use crate::house::{House, NewModel, cost, events, request_id};

fn chunks(events: &[String]) -> Vec<Value> {
    events.iter().filter_map(|event| serde_json::from_str(event).ok()).collect()
}

#[tokio::test]
async fn a_small_freeze_is_extended_step_by_step() {
    let house = House::with("1.00").await;
    let upstream = house.make_upstream("second", &house.sim.url()).await;
    house.make_model(NewModel { name: "stepping", freeze_output_tokens: 50, ..NewModel::default() }, &[upstream]).await;
    tokio::time::sleep(std::time::Duration::from_millis(400)).await;
    let response = house.chat("stepping", "[[sim out=1000 chunks=200]]", json!({"stream": true})).send().await.unwrap();
    let id = request_id(&response);
    let events = events(&response.text().await.unwrap());
    assert!(!events.iter().any(|event| event.contains("x_tollgate")));
    let record = house.record(&id).await;
    assert_eq!((&record["usage"]["output"], &record["overrun"]), (&json!(1000), &json!(false)));
    assert!(record["extensions"].as_u64().unwrap() >= 3, "{record}");
    assert!(record["frozen"].as_i64() > record["estimate"].as_i64());
}

#[tokio::test]
async fn a_stream_ends_cleanly_when_the_quota_does() {
    for include_usage in [false, true] {
        // About 500 tokens of answer.
        let house = House::with("0.00100000").await;
        let more = json!({"stream": true, "max_tokens": 32_000, "stream_options": {"include_usage": include_usage}});
        let response = house.chat("sim-small", "[[sim out=4000 chunks=800 delay_ms=2]]", more).send().await.unwrap();
        assert_eq!(response.status(), 200);
        let id = request_id(&response);
        let events = events(&response.text().await.unwrap());
        assert_eq!(events.last().unwrap(), "[DONE]");
        let chunks = chunks(&events);
        let stopped =
            chunks.iter().find(|chunk| chunk["x_tollgate"].is_object() && chunk["choices"][0].is_object()).unwrap();
        assert_eq!(stopped["x_tollgate"]["stopped"], "quota");
        assert_eq!(stopped["choices"][0]["finish_reason"], "length");
        assert_eq!(stopped["id"], chunks[0]["id"]);
        let usage = chunks.last().unwrap()["usage"].clone();
        let record = house.record(&id).await;
        assert_eq!(usage["completion_tokens"], record["usage"]["output"]);
        let (input, output) = (record["usage"]["input"].as_u64().unwrap(), record["usage"]["output"].as_u64().unwrap());
        assert!((400..=500).contains(&output), "{output}");
        let after = house.settled().await;
        assert_eq!(after.used, cost(input, output));
        assert!(after.remaining >= 0);
        let line = house.served(1).await.remove(0);
        assert!(line.output_tokens_sent < 1_500, "{}", line.output_tokens_sent);
    }
}

#[tokio::test]
async fn a_runaway_model_is_ended_at_its_ceiling() {
    let house = House::with("1.00").await;
    let upstream = house.make_upstream("second", &house.sim.url()).await;
    house
        .make_model(
            NewModel { name: "short", max_output_tokens: 100, freeze_output_tokens: 50, ..NewModel::default() },
            &[upstream],
        )
        .await;
    tokio::time::sleep(std::time::Duration::from_millis(400)).await;
    let response =
        house.chat("short", "[[sim out=1000 chunks=1000 delay_ms=2]]", json!({"stream": true})).send().await.unwrap();
    let id = request_id(&response);
    let events = events(&response.text().await.unwrap());
    let chunks = chunks(&events);
    assert_eq!(chunks.last().unwrap()["x_tollgate"]["stopped"], "ceiling");
    let output = house.record(&id).await["usage"]["output"].as_u64().unwrap();
    assert!((95..=115).contains(&output), "{output}");
}
