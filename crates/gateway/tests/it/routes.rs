//! Every paid route: charged exactly, streamed and not, refused in its own dialect.

use serde_json::{Value, json};

use crate::house::{House, cost, request_id};

async fn house(credits: &str) -> House {
    let house = House::with(credits).await;
    house.make_other_models().await;
    house
}

/// The body of a request with this text on a route.
fn body(path: &str, text: &str, stream: bool) -> Value {
    let messages = json!([{"role": "user", "content": text}]);
    match path {
        "/completions" => json!({"model": "sim-small", "prompt": text, "stream": stream}),
        "/responses" => json!({"model": "sim-small", "input": text, "stream": stream}),
        "/messages" => json!({"model": "sim-small", "max_tokens": 2_000, "messages": messages, "stream": stream}),
        _ => json!({"model": "sim-small", "messages": messages, "stream": stream}),
    }
}

const ROUTES: [&str; 4] = ["/chat/completions", "/completions", "/responses", "/messages"];

#[tokio::test]
async fn every_route_is_charged_by_the_reported_usage() {
    let house = house("1.00").await;
    let mut used = 0;
    for path in ROUTES {
        for stream in [false, true] {
            let response = house.post(path, &body(path, "Hello [[sim out=40]]", stream)).send().await.unwrap();
            let (status, id) = (response.status(), request_id(&response));
            let text = response.text().await.unwrap();
            assert_eq!(status, 200, "{path}: {text}");
            assert_eq!(text.contains("event:") || text.contains("data:"), stream, "{path}");
            let record = house.record(&id).await;
            assert_eq!(
                (&record["usage"]["output"], &record["estimated"]),
                (&json!(40), &json!(false)),
                "{path} {stream}"
            );
            used += cost(record["usage"]["input"].as_u64().unwrap(), 40);
            assert_eq!(house.settled().await.used, used, "{path} {stream}");
        }
    }
    let response =
        house.post("/embeddings", &json!({"model": "emb", "input": ["Hello, world!", "Hello"]})).send().await.unwrap();
    let record = house.record(&request_id(&response)).await;
    let reply: Value = response.json().await.unwrap();
    let prompt = reply["usage"]["prompt_tokens"].as_u64().unwrap();
    assert_eq!(record["charged"], cost(prompt, 0));
    assert_eq!(house.settled().await.used, used + cost(prompt, 0));
    let paths: Vec<String> = house.served(9).await.into_iter().map(|line| line.path).collect();
    assert!(ROUTES.iter().all(|path| paths.contains(&format!("/v1{path}"))), "{paths:?}");
}

#[tokio::test]
async fn every_route_refuses_in_its_own_dialect() {
    let house = house("0.00000500").await;
    for path in ROUTES {
        let response = house.post(path, &body(path, "Hello", false)).send().await.unwrap();
        assert_eq!(response.status(), 429, "{path}");
        assert_eq!(response.headers()["x-should-retry"], "false");
        let body: Value = response.json().await.unwrap();
        assert_eq!(body["error"]["tollgate"]["limit"], "quota", "{path}");
        let expected = if path == "/messages" { ("error", "rate_limit_error") } else { ("", "insufficient_quota") };
        assert_eq!((body["type"].as_str().unwrap_or_default(), body["error"]["type"].as_str().unwrap()), expected);
    }
    let response =
        house.post("/messages", &json!({"model": "nothing", "max_tokens": 5, "messages": []})).send().await.unwrap();
    assert_eq!(response.json::<Value>().await.unwrap()["error"]["type"], "not_found_error");
    let response =
        house.http.post(format!("{}/v1/messages", house.url)).header("x-api-key", "no").send().await.unwrap();
    assert_eq!(response.json::<Value>().await.unwrap()["error"]["type"], "authentication_error");
    let response = house.post("/embeddings", &json!({"model": "sim-small", "input": "a"})).send().await.unwrap();
    assert_eq!(response.status(), 404, "a chat model makes no embeddings");
    assert_eq!(house.sim.book().ledger(0, 10).len(), 0);
}

#[tokio::test]
async fn every_stream_ends_cleanly_in_its_own_dialect() {
    for (path, end) in
        [("/completions", "data: [DONE]"), ("/responses", "response.incomplete"), ("/messages", "message_stop")]
    {
        let house = house("0.00100000").await;
        let script = "Hello [[sim out=3000 chunks=600 delay_ms=2]]";
        let response = house.post(path, &body(path, script, true)).send().await.unwrap();
        let id = request_id(&response);
        let text = response.text().await.unwrap();
        let last = text.rsplit("\n\n").find(|event| !event.is_empty()).unwrap();
        assert!(last.contains(end), "{path}: {last}");
        assert!(text.contains(r#""x_tollgate":{"stopped":"quota"}"#), "{path}: {text}");
        let record = house.record(&id).await;
        let output = record["usage"]["output"].as_u64().unwrap();
        assert!((380..=500).contains(&output), "{path}: {output}");
        assert!(house.settled().await.remaining >= 0);
    }
}

#[tokio::test]
async fn a_client_that_leaves_pays_what_was_relayed_on_every_route() {
    use futures_util::StreamExt;
    let house = house("1.00").await;
    for path in ROUTES {
        let response =
            house.post(path, &body(path, "[[sim out=400 chunks=400 delay_ms=20]]", true)).send().await.unwrap();
        let id = request_id(&response);
        let mut stream = response.bytes_stream();
        for _ in 0..15 {
            stream.next().await.unwrap().unwrap();
        }
        drop(stream);
        let record = house.record(&id).await;
        let output = record["usage"]["output"].as_u64().unwrap();
        assert!((5..200).contains(&output), "{path}: {output}");
        assert!(record["usage"]["input"].as_u64().unwrap() > 5);
        assert_eq!((&record["estimated"], &record["outcome"]), (&json!(true), &json!("final")), "{path}");
    }
}
