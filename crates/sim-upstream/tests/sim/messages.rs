//! Anthropic's messages.

use serde_json::{Value, json};
use tollgate_sim_upstream::{Vocabulary, words};

use crate::client::World;

const PATH: &str = "/v1/messages";

fn message(script: &str) -> Value {
    json!({"model": "sim-small", "max_tokens": 1_000, "system": "be short",
        "messages": [{"role": "user", "content": [{"type": "text", "text": format!("hello {script}")}]}]})
}

#[tokio::test]
async fn a_plain_answer_keeps_cached_tokens_apart() {
    let world = World::new().await;
    let answer = world.json(PATH, message("[[sim out=20 prompt=1000 cached=300 cache_write=200 reasoning=5]]")).await;
    assert_eq!(answer["content"][0]["text"], words(0, 20));
    assert_eq!(answer["stop_reason"], "end_turn");
    assert_eq!(answer["usage"]["input_tokens"], 500);
    assert_eq!(answer["usage"]["cache_read_input_tokens"], 300);
    assert_eq!(answer["usage"]["cache_creation_input_tokens"], 200);
    assert_eq!(answer["usage"]["output_tokens"], 25);
    assert_eq!(world.line().await.usage.as_ref(), Some(&answer["usage"]));
}

#[tokio::test]
async fn a_stream_has_the_events_in_order() {
    let world = World::new().await;
    let mut body = message("[[sim out=9 chunks=3]]");
    body["stream"] = true.into();
    let events = world.events(PATH, body).await;
    let names: Vec<_> = events.iter().map(|event| event.name.as_deref().unwrap()).collect();
    let mut expected = vec!["message_start", "content_block_start", "ping"];
    expected.extend(["content_block_delta"; 3]);
    expected.extend(["content_block_stop", "message_delta", "message_stop"]);
    assert_eq!(names, expected);
    for event in &events {
        assert_eq!(event.json()["type"], event.name.as_deref().unwrap());
    }
    let prompt = 7 + Vocabulary::O200k.count("be short") + Vocabulary::O200k.count("hello [[sim out=9 chunks=3]]");
    assert_eq!(events[0].json()["message"]["usage"]["input_tokens"], prompt);
    let text: String =
        events[3..6].iter().map(|event| event.json()["delta"]["text"].as_str().unwrap().to_owned()).collect();
    assert_eq!(text, words(0, 9));
    assert_eq!(events[7].json()["usage"]["output_tokens"], 9);
    assert_eq!(events[7].json()["delta"]["stop_reason"], "end_turn");
}

#[tokio::test]
async fn the_maximum_is_needed_and_kept() {
    let world = World::new().await;
    let mut body = message("[[sim out=20]]");
    body["max_tokens"] = 5.into();
    let answer = world.json(PATH, body.clone()).await;
    assert_eq!(answer["stop_reason"], "max_tokens");
    assert_eq!(answer["usage"]["output_tokens"], 5);
    body.as_object_mut().unwrap().remove("max_tokens");
    let refused = world.post(PATH).json(&body).send().await.unwrap();
    assert_eq!(refused.status(), 400);
    assert_eq!(refused.json::<Value>().await.unwrap()["error"]["type"], "invalid_request_error");
}

#[tokio::test]
async fn a_tool_is_used() {
    let world = World::new().await;
    let mut body = message("[[sim tool out=5 chunks=2]]");
    body["tools"] = json!([{"name": "look_up", "input_schema": {"type": "object"}}]);
    let plain = world.json(PATH, body.clone()).await;
    assert_eq!(plain["stop_reason"], "tool_use");
    assert_eq!(plain["content"][0]["input"]["input"], words(0, 5));
    body["stream"] = true.into();
    let events = world.events(PATH, body).await;
    let joined: String =
        events.iter().filter_map(|event| event.json()["delta"]["partial_json"].as_str().map(str::to_owned)).collect();
    assert_eq!(serde_json::from_str::<Value>(&joined).unwrap(), plain["content"][0]["input"]);
}

#[tokio::test]
async fn several_tools_are_used_one_block_after_the_other() {
    let world = World::new().await;
    let mut body = message("[[sim tools=2 out=5 chunks=2]]");
    body["tools"] =
        json!([{"name": "look_up", "input_schema": {}}, {"name": "add", "input_schema": {}}, {"name": "no"}]);
    let plain = world.json(PATH, body.clone()).await;
    let names: Vec<_> = plain["content"].as_array().unwrap().iter().map(|block| block["name"].clone()).collect();
    assert_eq!(names, ["look_up", "add"]);
    assert_ne!(plain["content"][0]["id"], plain["content"][1]["id"]);
    body["stream"] = true.into();
    let events = world.events(PATH, body).await;
    let seen: Vec<_> = events
        .iter()
        .map(|event| event.json())
        .filter(|event| event["index"].is_u64())
        .map(|event| (event["index"].as_u64().unwrap(), event["type"].as_str().unwrap().replace("content_block_", "")))
        .collect();
    let of = |index| ["start", "delta", "delta", "stop"].map(|kind| (index, kind.to_owned()));
    assert_eq!(seen, [of(0), of(1)].concat());
    assert_eq!(events.iter().rev().nth(1).unwrap().json()["usage"]["output_tokens"], plain["usage"]["output_tokens"]);
}

#[tokio::test]
async fn tokens_are_counted() {
    let world = World::new().await;
    let body = json!({"model": "sim-small", "messages": [{"role": "user", "content": "hello there"}]});
    let counted = world.json("/v1/messages/count_tokens", body).await;
    assert_eq!(counted, json!({"input_tokens": 7 + Vocabulary::O200k.count("hello there")}));
}

#[tokio::test]
async fn the_version_header_is_needed() {
    let world = World::new().await;
    let refused = world.http.post(format!("{}{PATH}", world.sim.url())).json(&message("")).send().await.unwrap();
    assert_eq!(refused.status(), 400);
    assert!(refused.text().await.unwrap().contains("anthropic-version"));
}
