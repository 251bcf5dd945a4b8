//! Hold and release, the ledger, the active answers, keys, models.

use std::time::Duration;

use futures_util::{StreamExt as _, future::join_all};
use serde_json::{Value, json};
use tollgate_sim_upstream::{Config, Ending, Running};

use crate::client::{World, chat, streamed};

const PATH: &str = "/v1/chat/completions";

async fn get(world: &World, path: &str) -> Value {
    world.http.get(format!("{}{path}", world.sim.url())).send().await.unwrap().json().await.unwrap()
}

#[tokio::test]
async fn a_hold_stops_answers_before_their_first_byte() {
    let world = World::new().await;
    assert_eq!(world.post("/sim/hold").send().await.unwrap().status(), 200);
    let calls = join_all((0..20).map(|_| world.chat("[[sim out=3]]")));
    let steer = async {
        world.active(20, 0).await;
        assert_eq!(world.sim.book().ledger(0, 100).len(), 0);
        assert_eq!(get(&world, "/sim/active").await["held"], 20);
        assert_eq!(world.post("/sim/release").send().await.unwrap().status(), 200);
    };
    let (answers, ()) = tokio::join!(calls, steer);
    assert!(answers.iter().all(|answer| answer.status() == 200));
    let lines = get(&world, "/sim/ledger").await;
    assert_eq!(lines.as_array().unwrap().len(), 20);
    assert_eq!(get(&world, "/sim/active").await, json!({"held": 0, "running": 0, "answers": []}));
}

#[tokio::test]
async fn a_hold_can_stop_streams_after_some_chunks() {
    let world = World::new().await;
    assert_eq!(world.post("/sim/hold?after_chunks=2").send().await.unwrap().status(), 200);
    let response = world.post(PATH).json(&streamed("[[sim out=8 chunks=4]]")).send().await.unwrap();
    world.active(1, 0).await;
    assert_eq!(world.sim.book().active().answers[0].output_tokens_sent, 4);
    world.sim.book().release();
    assert!(response.text().await.unwrap().ends_with("data: [DONE]\n\n"));
    assert_eq!(world.line().await.output_tokens_sent, 8);
}

#[tokio::test]
async fn the_ledger_goes_on_where_the_reader_was() {
    let world = World::new().await;
    for number in 1..=5 {
        let call =
            world.post(PATH).header("x-request-id", format!("call-{number}")).json(&chat("")).send().await.unwrap();
        assert_eq!(call.status(), 200);
        // The line is there when the answer is.
        assert_eq!(world.sim.book().ledger(number - 1, 10).len(), 1);
    }
    let ids =
        |lines: &Value| lines.as_array().unwrap().iter().map(|line| line["request_id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(&get(&world, "/sim/ledger?after=3").await), ["call-4", "call-5"]);
    assert_eq!(ids(&get(&world, "/sim/ledger?after=1&limit=2").await), ["call-2", "call-3"]);
    assert_eq!(get(&world, "/sim/ledger?after=5").await, json!([]));
    assert!(get(&world, "/sim/ledger?after=x").await["error"].as_str().unwrap().contains("after"));
    let line = &get(&world, "/sim/ledger?after=4").await[0];
    assert_eq!(line["seq"], 5);
    assert_eq!(line["headers"]["x-request-id"], "call-5");
    assert_eq!(line["closed_by_client_ms"], Value::Null);
    assert_eq!(serde_json::from_str::<Value>(line["body"].as_str().unwrap()).unwrap(), chat(""));
}

#[tokio::test]
async fn the_oldest_lines_are_forgotten() {
    let config = Config { ledger_lines: 2, ..Config::default() };
    let world = World { sim: Running::start(config).await.unwrap(), http: reqwest::Client::new() };
    for _ in 0..3 {
        world.chat("").await;
    }
    let seqs: Vec<_> = world.sim.book().ledger(0, 10).iter().map(|line| line.seq).collect();
    assert_eq!(seqs, [2, 3]);
}

#[tokio::test]
async fn a_caller_that_leaves_mid_stream_is_seen_at_once() {
    let world = World::new().await;
    let response = world.post(PATH).json(&streamed("[[sim out=1000 chunks=1000 delay_ms=20]]")).send().await.unwrap();
    let mut stream = response.bytes_stream();
    stream.next().await.unwrap().unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    drop(stream);
    let line = world.line().await;
    assert_eq!(line.ending, Ending::ClosedByClient);
    let closed = line.closed_by_client_ms.unwrap();
    assert!((200..1_500).contains(&closed), "closed after {closed} ms");
    assert!((5..200).contains(&line.output_tokens_sent), "{line:?}");
    assert_eq!(line.usage, None);
    assert_eq!(world.sim.book().active().answers.len(), 0);
}

#[tokio::test]
async fn a_caller_that_leaves_before_the_first_byte_is_seen_at_once() {
    let world = World::new().await;
    world.sim.book().hold(0);
    for body in [chat(""), streamed("")] {
        let seen = world.sim.book().ledger(0, 10).len();
        let call = tokio::time::timeout(Duration::from_millis(300), world.post(PATH).json(&body).send()).await;
        assert!(call.is_err(), "held");
        world.active(0, 0).await;
        let line = world.sim.book().ledger(0, 10)[seen].clone();
        assert_eq!((line.ending, line.output_tokens_sent), (Ending::ClosedByClient, 0));
    }
}

#[tokio::test]
async fn a_key_is_asked_for_where_one_is_set() {
    let config = Config { api_key: Some("sk-right".to_owned()), ..Config::default() };
    let world = World { sim: Running::start(config).await.unwrap(), http: reqwest::Client::new() };
    let call = |name: &'static str, value: &'static str| world.post(PATH).header(name, value).json(&chat("")).send();
    assert_eq!(call("authorization", "Bearer sk-right").await.unwrap().status(), 200);
    assert_eq!(call("x-api-key", "sk-right").await.unwrap().status(), 200);
    assert_eq!(call("authorization", "Bearer sk-wrong").await.unwrap().status(), 401);
    let refused = world.chat("").await;
    assert_eq!(refused.status(), 401);
    assert_eq!(refused.json::<Value>().await.unwrap()["error"]["code"], "invalid_api_key");
    assert_eq!(world.sim.book().ledger(0, 10).last().unwrap().status, 401);
}

#[tokio::test]
async fn models_are_listed() {
    let config = Config { models: vec!["one".to_owned(), "two".to_owned()], ..Config::default() };
    let world = World { sim: Running::start(config).await.unwrap(), http: reqwest::Client::new() };
    let list = get(&world, "/v1/models").await;
    let names: Vec<_> = list["data"].as_array().unwrap().iter().map(|model| model["id"].clone()).collect();
    assert_eq!(names, ["one", "two"]);
    assert_eq!(get(&world, "/v1/models/two").await["id"], "two");
    assert_eq!(get(&world, "/v1/models/three").await["error"]["code"], "model_not_found");
}

#[tokio::test]
async fn many_streams_are_open_at_once() {
    let world = World::new().await;
    world.sim.book().hold(1);
    let calls: Vec<_> =
        join_all((0..300).map(|_| world.post(PATH).json(&streamed("[[sim out=4 chunks=2]]")).send())).await;
    world.active(300, 0).await;
    world.sim.book().release();
    for call in calls {
        assert!(call.unwrap().text().await.unwrap().ends_with("data: [DONE]\n\n"));
    }
    assert_eq!(world.sim.book().ledger(0, 1_000).iter().map(|line| line.output_tokens_sent).sum::<u32>(), 1_200);
}
