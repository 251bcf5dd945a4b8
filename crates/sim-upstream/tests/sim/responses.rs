//! The responses route.

use serde_json::{Value, json};
use tollgate_sim_upstream::words;

use crate::client::World;

const PATH: &str = "/v1/responses";

#[tokio::test]
async fn a_plain_answer_and_its_usage() {
    let world = World::new().await;
    let body = json!({"model": "m", "instructions": "be short", "input": "hello [[sim out=9 cached=2 reasoning=4]]"});
    let answer = world.json(PATH, body).await;
    assert_eq!(answer["status"], "completed");
    assert_eq!(answer["output"][0]["content"][0]["text"], words(0, 9));
    assert_eq!(answer["usage"]["output_tokens"], 13);
    assert_eq!(answer["usage"]["output_tokens_details"]["reasoning_tokens"], 4);
    assert_eq!(answer["usage"]["input_tokens_details"]["cached_tokens"], 2);
}

#[tokio::test]
async fn a_stream_is_numbered_and_ends_with_the_whole_answer() {
    let world = World::new().await;
    let body = json!({"model": "m", "stream": true, "max_output_tokens": 6,
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "[[sim out=9 chunks=3]]"}]}]});
    let events = world.events(PATH, body).await;
    for (number, event) in events.iter().enumerate() {
        assert_eq!(event.json()["sequence_number"], number);
        assert_eq!(event.json()["type"], event.name.as_deref().unwrap());
    }
    let text: String = events
        .iter()
        .filter(|event| event.name.as_deref() == Some("response.output_text.delta"))
        .map(|event| event.json()["delta"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(text, words(0, 6));
    let last = events.last().unwrap().json();
    assert_eq!(last["type"], "response.incomplete");
    assert_eq!(last["response"]["usage"]["output_tokens"], 6);
    assert_eq!(last["response"]["output"][0]["content"][0]["text"], text);
}

#[tokio::test]
async fn a_tool_is_called() {
    let world = World::new().await;
    let body = json!({"model": "m", "input": "[[sim tool]]", "tools": [{"type": "function", "name": "look_up"}]});
    let call = world.json(PATH, body).await["output"][0].clone();
    assert_eq!(call["type"], "function_call");
    assert_eq!(call["name"], "look_up");
    assert!(serde_json::from_str::<Value>(call["arguments"].as_str().unwrap()).unwrap()["input"].is_string());
}

#[tokio::test]
async fn a_broken_stream_ends_with_a_failure() {
    let world = World::new().await;
    let body = json!({"model": "m", "stream": true, "input": "[[sim out=9 chunks=3 fault=error:2]]"});
    let events = world.events(PATH, body).await;
    assert_eq!(events.last().unwrap().name.as_deref(), Some("response.failed"));
    let line = world.line().await;
    assert_eq!((line.output_tokens_sent, line.usage), (6, None));
}
