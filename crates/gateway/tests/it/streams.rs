//! A streamed call: bytes unchanged, usage asked for and hidden, and its client leaving.

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use serde_json::{Value, json};
use tollgate_sim_upstream::Ending;

use crate::house::{House, cost, events, request_id};

#[tokio::test]
async fn usage_is_asked_for_and_shown_only_to_who_asked() {
    let house = House::with("1.00").await;
    let mut used = 0;
    for include in [None, Some(false), Some(true)] {
        let mut more = json!({"stream": true});
        if let Some(include) = include {
            more["stream_options"] = json!({"include_usage": include});
        }
        let response = house.chat("sim-small", "Hello [[sim out=30]]", more).send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert!(response.headers()["content-type"].to_str().unwrap().starts_with("text/event-stream"));
        let id = request_id(&response);
        let events = events(&response.text().await.unwrap());
        assert_eq!(events.last().unwrap(), "[DONE]");
        let usage = events
            .iter()
            .filter_map(|event| serde_json::from_str::<Value>(event).ok())
            .find(|chunk| chunk["usage"].is_object());
        assert_eq!(usage.is_some(), include == Some(true), "{include:?}");
        let record = house.record(&id).await;
        assert_eq!((&record["estimated"], &record["usage"]["output"]), (&json!(false), &json!(30)));
        used += cost(record["usage"]["input"].as_u64().unwrap(), 30);
        assert_eq!(house.settled().await.used, used);
    }
    assert!(house.served(3).await.iter().all(|line| line.include_usage));
}

#[tokio::test]
async fn every_form_of_stream_is_understood() {
    let house = House::with("1.00").await;
    for form in ["lf", "crlf", "cr", "bom", "nospace", "nodone", "noblank", "comments", "multiline", "cumulative"] {
        let response = house
            .chat(
                "sim-small",
                &format!("[[sim out=25 sse={form}]]"),
                json!({"stream": true, "stream_options": {"include_usage": true}}),
            )
            .send()
            .await
            .unwrap();
        let id = request_id(&response);
        let _ = response.bytes().await.unwrap();
        let record = house.record(&id).await;
        assert_eq!((&record["estimated"], &record["usage"]["output"]), (&json!(false), &json!(25)), "{form}");
    }
    for encoding in ["gzip", "deflate", "br"] {
        for stream in [false, true] {
            let response = house
                .chat("sim-small", &format!("[[sim out=25 fault={encoding}]]"), json!({"stream": stream}))
                .send()
                .await
                .unwrap();
            assert!(!response.headers().contains_key("content-encoding"));
            let id = request_id(&response);
            assert!(response.text().await.unwrap().contains("answer"), "{encoding}");
            assert_eq!(house.record(&id).await["usage"]["output"], 25, "{encoding}");
        }
    }
}

#[tokio::test]
async fn chunks_arrive_as_they_are_made() {
    let house = House::with("1.00").await;
    // The first request on a fresh Redis waits out a recovery window.
    house.chat("sim-small", "hi", json!({})).send().await.unwrap();
    let began = Instant::now();
    let response =
        house.chat("sim-small", "[[sim out=10 chunks=10 delay_ms=150]]", json!({"stream": true})).send().await.unwrap();
    let mut body = response.bytes_stream();
    let first = body.next().await.unwrap().unwrap();
    assert!(first.starts_with(b"data: ") && began.elapsed() < Duration::from_millis(900), "{:?}", began.elapsed());
    while let Some(chunk) = body.next().await {
        chunk.unwrap();
    }
    assert!(began.elapsed() > Duration::from_millis(1_200));
}

#[tokio::test]
async fn a_client_that_leaves_mid_stream_pays_what_was_relayed_and_the_provider_is_closed() {
    let house = House::with("1.00").await;
    let response = house
        .chat("sim-small", "[[sim out=400 chunks=400 delay_ms=30]]", json!({"stream": true}))
        .send()
        .await
        .unwrap();
    let id = request_id(&response);
    let mut body = response.bytes_stream();
    for _ in 0..10 {
        body.next().await.unwrap().unwrap();
    }
    drop(body);
    let left = Instant::now();
    let record = house.record(&id).await;
    assert!(left.elapsed() < Duration::from_secs(3), "{:?}", left.elapsed());
    let line = house.served(1).await.remove(0);
    assert_eq!(line.ending, Ending::ClosedByClient);
    assert!(line.output_tokens_sent < 100);
    let output = record["usage"]["output"].as_u64().unwrap();
    assert!(output >= 8 && output <= u64::from(line.output_tokens_sent), "{output} of {}", line.output_tokens_sent);
    assert_eq!((&record["estimated"], &record["outcome"]), (&json!(true), &json!("final")));
    assert_eq!(house.settled().await.used, cost(record["usage"]["input"].as_u64().unwrap(), output));
}

#[tokio::test]
async fn a_client_that_leaves_before_the_first_byte_pays_nothing() {
    let house = House::with("1.00").await;
    for stream in [true, false] {
        house.sim.book().hold(0);
        let call = house.chat("sim-small", "[[sim out=20]]", json!({"stream": stream}));
        let calling = tokio::spawn(call.send());
        let held = testkit::wait::until_async("the provider to be called", Duration::from_secs(5), || async {
            Ok(house.sim.book().active().answers.into_iter().next())
        })
        .await
        .unwrap();
        assert!(house.numbers().await.frozen > 0);
        calling.abort();
        let record = house.record(&held.request_id).await;
        assert_eq!((&record["outcome"], &record["charged"]), (&json!("rolled_back"), &json!(0)));
        testkit::wait::until_async("the provider to be closed", Duration::from_secs(2), || async {
            Ok(house.sim.book().active().answers.is_empty().then_some(()))
        })
        .await
        .unwrap();
        house.sim.book().release();
    }
    assert_eq!(house.settled().await.used, 0);
}

#[tokio::test]
async fn several_choices_are_charged_prompt_once_and_outputs_once() {
    let house = House::with("1.00").await;
    let response =
        house.chat("sim-small", "[[sim out=20 usage=none]]", json!({"stream": true, "n": 5})).send().await.unwrap();
    let id = request_id(&response);
    response.bytes().await.unwrap();
    let record = house.record(&id).await;
    assert_eq!((&record["usage"]["output"], &record["estimated"]), (&json!(100), &json!(true)));
}

#[tokio::test]
async fn a_huge_event_passes() {
    let house = House::with("1.00").await;
    let response =
        house.chat("sim-small", "[[sim out=10 fault=huge:3000000]]", json!({"stream": true})).send().await.unwrap();
    let id = request_id(&response);
    let size = response.bytes().await.unwrap().len();
    assert!(size > 3_000_000, "{size}");
    let record = house.record(&id).await;
    assert_eq!((&record["usage"]["output"], &record["estimated"]), (&json!(10), &json!(false)));
}
