//! A route served by targets that speak only the other dialect: charged exactly, guarded, refused, as any other.

use std::time::Duration;

use futures_util::StreamExt;
use serde_json::{Value, json};

use crate::house::{House, NewModel, cost, events, request_id};

/// With `claude` served in Anthropic's dialect only, `gpt` in OpenAI's only.
async fn house(credits: &str) -> House {
    let house = House::with(credits).await;
    let upstream = house.make_upstream("second", &house.sim.url()).await;
    for name in ["claude", "gpt"] {
        house.make_model(NewModel { name, ..NewModel::default() }, &[upstream]).await;
    }
    house.sql(&speaks("claude", "anthropic")).await;
    house.sql(&speaks("gpt", "openai")).await;
    tokio::time::sleep(Duration::from_millis(400)).await;
    house
}

fn speaks(model: &str, dialect: &str) -> String {
    format!(
        "UPDATE targets SET dialects = ARRAY['{dialect}'] WHERE model_id = (SELECT id FROM models WHERE name = '{model}')"
    )
}

/// Both ways: the client's route, the model, the upstream's route.
const WAYS: [(&str, &str, &str); 2] =
    [("/chat/completions", "claude", "/v1/messages"), ("/messages", "gpt", "/v1/chat/completions")];

fn body(model: &str, text: &str, more: Value) -> Value {
    let mut body = json!({"model": model, "max_tokens": 2_000, "messages": [{"role": "user", "content": text}]});
    body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
    body
}

/// The text of a whole answer, in either dialect.
fn text_of(reply: &Value) -> &str {
    reply.pointer("/choices/0/message/content").or(reply.pointer("/content/0/text")).unwrap().as_str().unwrap()
}

#[tokio::test]
async fn both_ways_are_charged_by_the_upstreams_own_report() {
    let house = house("1.00").await;
    let mut used = 0;
    for (index, (path, model, upstream)) in WAYS.into_iter().enumerate() {
        let script = "Hello [[sim out=40 prompt=1000 cached=300]]";
        let response = house.post(path, &body(model, script, json!({}))).send().await.unwrap();
        let (status, id) = (response.status(), request_id(&response));
        let reply: Value = response.json().await.unwrap();
        assert_eq!(status, 200, "{path}: {reply}");
        let record = house.record(&id).await;
        assert_eq!(
            (&record["usage"]["input"], &record["usage"]["cached_input"], &record["usage"]["output"]),
            (&json!(700), &json!(300), &json!(40))
        );
        assert_eq!(record["estimated"], false);
        used += cost(1000, 40);
        assert_eq!(house.settled().await.used, used, "{path}");
        let usage = &reply["usage"];
        if path == "/messages" {
            assert_eq!((&usage["input_tokens"], &usage["cache_read_input_tokens"]), (&json!(700), &json!(300)));
            assert_eq!((&reply["type"], &reply["stop_reason"]), (&json!("message"), &json!("end_turn")));
        } else {
            assert_eq!(usage["prompt_tokens"], 1000);
            assert_eq!(usage["prompt_tokens_details"]["cached_tokens"], 300);
            assert_eq!(reply["choices"][0]["finish_reason"], "stop");
        }
        let streamed = body(model, script, json!({"stream": true}));
        let response = house.post(path, &streamed).send().await.unwrap();
        let id = request_id(&response);
        let stream = response.text().await.unwrap();
        let words = text_of(&reply);
        let deltas: String = stream
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok())
            .filter_map(|event| {
                let delta = event.pointer("/choices/0/delta/content").or(event.pointer("/delta/text"))?;
                delta.as_str().map(str::to_owned)
            })
            .collect();
        assert_eq!(deltas, words, "{path}");
        assert!(!stream.contains("completion_tokens"), "{path}: nobody asked for usage");
        assert_eq!(house.record(&id).await["charged"], cost(1000, 40), "{path}");
        used += cost(1000, 40);
        assert_eq!(house.settled().await.used, used, "{path}");
        let lines = house.served(2 * (index + 1)).await;
        assert!(lines[2 * index..].iter().all(|line| line.path == upstream), "{path}");
    }
}

#[tokio::test]
async fn an_answer_without_usage_is_counted_in_either_dialect() {
    let house = house("1.00").await;
    for (path, model, _) in WAYS {
        for stream in [false, true] {
            let more = json!({"stream": stream});
            let response =
                house.post(path, &body(model, "Hello [[sim out=30 usage=none]]", more)).send().await.unwrap();
            let id = request_id(&response);
            let text = response.text().await.unwrap();
            let record = house.record(&id).await;
            assert_eq!(
                (&record["usage"]["output"], &record["estimated"]),
                (&json!(30), &json!(true)),
                "{path}: {text}"
            );
        }
    }
}

#[tokio::test]
async fn the_guard_ends_a_stream_cleanly_in_the_clients_dialect() {
    for (path, model, _) in WAYS {
        let house = house("0.00100000").await;
        let script = "Hello [[sim out=3000 chunks=600 delay_ms=2]]";
        let response =
            house.post(path, &body(model, script, json!({"stream": true, "max_tokens": 4_000}))).send().await;
        let response = response.unwrap();
        let id = request_id(&response);
        let text = response.text().await.unwrap();
        assert!(text.contains(r#""x_tollgate":{"stopped":"quota"}"#), "{path}: {text}");
        let record = house.record(&id).await;
        let output = record["usage"]["output"].as_u64().unwrap();
        assert!((380..=500).contains(&output), "{path}: {output}");
        if path == "/messages" {
            let names: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
            assert_eq!(names[names.len() - 3..], ["content_block_stop", "message_delta", "message_stop"]);
            assert!(text.contains(r#""stop_reason":"max_tokens""#));
        } else {
            let chunks = events(&text);
            assert_eq!(chunks.last().unwrap(), "[DONE]");
            let last: Value = serde_json::from_str(&chunks[chunks.len() - 2]).unwrap();
            assert_eq!(last["choices"][0]["finish_reason"], "length");
            assert_eq!(last["usage"]["completion_tokens"], output);
        }
        assert!(house.settled().await.remaining >= 0);
    }
}

#[tokio::test]
async fn a_client_that_leaves_pays_what_was_relayed() {
    let house = house("1.00").await;
    for (path, model, _) in WAYS {
        let script = "[[sim out=400 chunks=400 delay_ms=20]]";
        let response = house.post(path, &body(model, script, json!({"stream": true}))).send().await.unwrap();
        let id = request_id(&response);
        let mut stream = response.bytes_stream();
        for _ in 0..15 {
            stream.next().await.unwrap().unwrap();
        }
        drop(stream);
        let record = house.record(&id).await;
        let output = record["usage"]["output"].as_u64().unwrap();
        assert!((5..200).contains(&output), "{path}: {output}");
        assert_eq!((&record["estimated"], &record["outcome"]), (&json!(true), &json!("final")), "{path}");
    }
}

#[tokio::test]
async fn an_upstreams_failure_is_told_in_the_clients_dialect() {
    let house = house("1.00").await;
    for (path, model, _) in WAYS {
        for (script, status, code) in [
            ("fault=status:400", 400, None),
            ("fault=status:429 retry_after=7", 429, Some("upstream_rate_limited")),
            ("fault=status:401", 502, Some("upstream_auth")),
            ("fault=error200", 502, Some("upstream_error")),
            ("fault=garbage", 502, Some("upstream_error")),
        ] {
            let sent = body(model, &format!("[[sim {script}]]"), json!({}));
            let response = house.post(path, &sent).send().await.unwrap();
            assert_eq!(response.status(), status, "{path} {script}");
            let reply: Value = response.json().await.unwrap();
            assert_eq!(reply["type"] == "error", path == "/messages", "{reply}");
            assert!(code.is_none_or(|code| reply["error"]["code"] == code), "{path} {script}: {reply}");
            assert!(reply["error"]["tollgate"].is_object());
        }
        for (script, said) in
            [("fault=error:3", "the simulated provider broke off"), ("fault=close:3", "broke off in the middle")]
        {
            let sent = body(model, &format!("[[sim out=20 chunks=10 {script}]]"), json!({"stream": true}));
            let response = house.post(path, &sent).send().await.unwrap();
            let id = request_id(&response);
            let text = response.text().await.unwrap();
            let last = text.rsplit("\n\n").find(|event| !event.is_empty()).unwrap();
            assert!(last.contains(said), "{path} {script}: {text}");
            assert_eq!(last.starts_with("event: error\n"), path == "/messages", "{last}");
            let record = house.record(&id).await;
            assert_eq!(
                (&record["usage"]["output"], &record["estimated"]),
                (&json!(6), &json!(true)),
                "{path} {script}"
            );
        }
    }
}

#[tokio::test]
async fn what_cant_be_translated_is_refused_before_anything_is_frozen() {
    let house = house("1.00").await;
    for (path, model, more, param) in [
        ("/chat/completions", "claude", json!({"n": 2}), "n"),
        ("/chat/completions", "claude", json!({"logprobs": true}), "logprobs"),
        ("/messages", "gpt", json!({"top_k": 5}), "top_k"),
        ("/messages", "gpt", json!({"thinking": {"type": "enabled", "budget_tokens": 1024}}), "thinking"),
    ] {
        let response = house.post(path, &body(model, "Hello", more)).send().await.unwrap();
        let status = response.status();
        let reply: Value = response.json().await.unwrap();
        assert_eq!((status.as_u16(), &reply["error"]["param"]), (400, &json!(param)), "{reply}");
        assert_eq!(reply["error"]["type"], "invalid_request_error");
    }
    assert_eq!(house.settled().await.used, 0);
    assert_eq!(house.sim.book().ledger(0, 10).len(), 0);
}

#[tokio::test]
async fn of_targets_of_one_priority_the_native_one_is_asked_first() {
    let house = house("1.00").await;
    let (one, two) =
        (house.make_upstream("one", &house.sim.url()).await, house.make_upstream("two", &house.sim.url()).await);
    house.make_model(NewModel { name: "both", ..NewModel::default() }, &[one, two]).await;
    let of = "model_id = (SELECT id FROM models WHERE name = 'both')";
    house
        .sql(&format!(
            "UPDATE targets SET dialects = ARRAY['anthropic'], priority = 5, weight = 100 WHERE {of} AND priority = 0"
        ))
        .await;
    house
        .sql(&format!("UPDATE targets SET dialects = ARRAY['openai'], priority = 5 WHERE {of} AND priority = 1"))
        .await;
    tokio::time::sleep(Duration::from_millis(400)).await;
    for _ in 0..6 {
        for path in ["/chat/completions", "/messages"] {
            let response = house.post(path, &body("both", "Hello", json!({}))).send().await.unwrap();
            assert_eq!(response.status(), 200);
        }
    }
    let lines = house.served(12).await;
    assert_eq!(lines.iter().filter(|line| line.path == "/v1/messages").count(), 6);
    // What only the native target can do is not refused for the other's sake; where that one fails, nobody else is asked.
    let response = house.post("/chat/completions", &body("both", "Hello", json!({"n": 2}))).send().await.unwrap();
    assert_eq!(response.status(), 200);
    // A failing native target is followed by the translated one, under the same freeze.
    house.sql("UPDATE upstreams SET base_url = 'http://127.0.0.1:9' WHERE name = 'two'").await;
    tokio::time::sleep(Duration::from_millis(400)).await;
    let response = house.post("/chat/completions", &body("both", "Hello", json!({}))).send().await.unwrap();
    let (status, id) = (response.status(), request_id(&response));
    assert_eq!(status, 200);
    assert_eq!(house.record(&id).await["attempts"].as_array().unwrap().len(), 2);
    let response = house.post("/chat/completions", &body("both", "Hello", json!({"n": 2}))).send().await.unwrap();
    assert_eq!(response.status(), 502);
}

#[tokio::test]
async fn tokens_are_counted_for_free_by_the_target_or_here() {
    let house = house("1.00").await;
    let ask = |model: &str| json!({"model": model, "messages": [{"role": "user", "content": "Hello, world!"}]});
    let mut counts = Vec::new();
    for model in ["claude", "gpt", "sim-small"] {
        let response = house.post("/messages/count_tokens", &ask(model)).send().await.unwrap();
        assert_eq!(response.status(), 200, "{model}");
        counts.push(response.json::<Value>().await.unwrap()["input_tokens"].as_u64().unwrap());
    }
    // The simulated provider frames a message with its role, the local count with 4 and 3.
    assert_eq!(counts, [11, 11, 11]);
    let paths: Vec<String> = house.served(2).await.into_iter().map(|line| line.path).collect();
    assert_eq!(paths, ["/v1/messages/count_tokens"; 2], "`gpt` is counted here");
    assert_eq!(house.settled().await.used, 0);
    let unknown = house.post("/messages/count_tokens", &ask("nothing")).send().await.unwrap();
    assert_eq!(unknown.json::<Value>().await.unwrap()["error"]["type"], "not_found_error");
    let bad = house.post("/messages/count_tokens", &json!({"model": "gpt"})).send().await.unwrap();
    assert_eq!(bad.json::<Value>().await.unwrap()["error"]["param"], "messages");
    let url = format!("{}/v1/messages/count_tokens", house.url);
    let nobody = house.http.post(url).json(&ask("gpt")).send().await.unwrap();
    assert_eq!(nobody.json::<Value>().await.unwrap()["error"]["type"], "authentication_error");
}

#[tokio::test]
async fn a_model_of_another_route_is_told_apart_from_an_unknown_one() {
    let house = house("1.00").await;
    let response = house.post("/responses", &json!({"model": "claude", "input": "Hello"})).send().await.unwrap();
    assert_eq!(response.status(), 404);
    let error = response.json::<Value>().await.unwrap()["error"].clone();
    assert_eq!(error["code"], "model_not_found");
    assert!(error["message"].as_str().unwrap().contains("not served on this route"), "{error}");
    assert!(error["tollgate"]["remedy"].as_str().unwrap().contains("targets"), "{error}");
}

#[tokio::test]
async fn a_safe_retry_gets_the_translated_answer_again() {
    let house = house("1.00").await;
    for (path, model, _) in WAYS {
        let ask = || house.post(path, &body(model, "Hello", json!({}))).header("idempotency-key", format!("one{path}"));
        let first: Value = ask().send().await.unwrap().json().await.unwrap();
        assert!(!text_of(&first).is_empty(), "{path}: {first}");
        let again: Value = ask().send().await.unwrap().json().await.unwrap();
        assert_eq!(again, first, "{path}");
    }
    house.served(2).await;
}
