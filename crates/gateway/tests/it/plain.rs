//! A call that is not streamed.

use serde_json::{Value, json};

use crate::house::{House, PROVIDER_KEY, cost, request_id};

#[tokio::test]
async fn an_answer_is_charged_exactly_by_the_reported_usage() {
    let house = House::with("1.00").await;
    let before = house.settled().await;
    let body = r#"{"zz_unknown": {"kept": [1.50]}, "messages": [{"role": "user", "content": "Hello [[sim out=50]]"}], "model": "sim-small"}"#;
    let response = house
        .http
        .post(format!("{}/v1/chat/completions", house.url))
        .bearer_auth(&house.key)
        .body(body)
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), 200);
    let id = request_id(&response);
    let body: Value = response.json().await.unwrap();
    let (prompt, output) =
        (body["usage"]["prompt_tokens"].as_u64().unwrap(), body["usage"]["completion_tokens"].as_u64().unwrap());
    assert_eq!(output, 50);
    let after = house.settled().await;
    assert_eq!(after.used - before.used, cost(prompt, output));
    assert_eq!(after.total, before.total);

    let record = house.record(&id).await;
    assert_eq!(record["outcome"], "final");
    assert_eq!(record["charged"], cost(prompt, output));
    assert_eq!(record["usage"]["input"], prompt);
    assert_eq!((&record["estimated"], &record["overrun"]), (&json!(false), &json!(false)));
    assert_eq!(record["attempts"].as_array().unwrap().len(), 1);

    let line = house.served(1).await.remove(0);
    assert_eq!(line.request_id, id);
    assert_eq!(line.headers["authorization"], format!("Bearer {PROVIDER_KEY}"));
    let sent = line.body.unwrap();
    assert!(sent.contains(r#""zz_unknown":{"kept": [1.50]}"#), "{sent}");
    assert!(!line.headers.values().any(|value| value.contains(&house.key)) && !sent.contains(&house.key));
}

#[tokio::test]
async fn the_callers_view_lists_models_and_quota() {
    let house = House::with("1.00").await;
    let models = house.get("/v1/models").await;
    let names: Vec<_> = models["data"].as_array().unwrap().iter().map(|model| model["id"].as_str().unwrap()).collect();
    assert_eq!(names, ["fixed", "sim-small"]);
    assert_eq!(house.get("/v1/models/fixed").await["id"], "fixed");
    assert_eq!(house.get("/v1/models/other").await["error"]["code"], "model_not_found");
    let quota = house.get("/v1/quota").await;
    assert_eq!(quota["unit"], "credit");
    let levels: Vec<_> = quota["levels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|level| (level["level"].as_str().unwrap(), level["total"].as_str()))
        .collect();
    assert_eq!(levels, [("key", None), ("project", None), ("tenant", Some("1.00000000"))]);
    assert_eq!(quota["overdraft"]["enabled"], false);
    assert!(house.http.get(format!("{}/readyz", house.url)).send().await.unwrap().status().is_success());
}

#[tokio::test]
async fn bad_requests_name_their_field_and_never_reach_the_provider() {
    let house = House::with("1.00").await;
    let post = |body: &str| {
        house
            .http
            .post(format!("{}/v1/chat/completions", house.url))
            .bearer_auth(&house.key)
            .body(body.to_owned())
            .send()
    };
    for (body, status, code, param) in [
        ("", 400, "invalid_json", Value::Null),
        ("{", 400, "invalid_json", Value::Null),
        ("{}", 400, "invalid_field", json!("model")),
        (r#"{"model":"sim-small"}"#, 400, "invalid_field", json!("messages")),
        (r#"{"model":"sim-small","messages":[],"n":-1}"#, 400, "invalid_field", json!("n")),
        (r#"{"model":"nothing","messages":[{"role":"user","content":"a"}]}"#, 404, "model_not_found", json!("model")),
    ] {
        let response = post(body).await.unwrap();
        assert_eq!(response.status(), status, "{body}");
        let error: Value = response.json().await.unwrap();
        assert_eq!((&error["error"]["code"], &error["error"]["param"]), (&json!(code), &param), "{body}");
        assert!(error["error"]["tollgate"]["remedy"].is_string());
    }
    let response = house.http.get(format!("{}/v1/nothing", house.url)).send().await.unwrap();
    assert_eq!(response.status(), 404);
    let response = house.http.get(format!("{}/v1/chat/completions", house.url)).send().await.unwrap();
    assert_eq!(response.status(), 405);
    assert_eq!(house.sim.book().ledger(0, 10).len(), 0);
    assert_eq!(house.settled().await.used, 0);
}

#[tokio::test]
async fn success_without_usage_is_charged_by_the_local_count_and_flagged() {
    let house = House::with("1.00").await;
    for usage in ["none", "null", "empty"] {
        let response =
            house.chat("sim-small", &format!("[[sim out=20 usage={usage}]]"), json!({})).send().await.unwrap();
        let record = house.record(&request_id(&response)).await;
        assert_eq!(record["estimated"], true, "{usage}");
        assert_eq!(record["usage"]["output"], 20, "{usage}");
        assert!(record["usage"]["input"].as_u64().unwrap() > 5);
        assert_eq!(record["charged"], cost(record["usage"]["input"].as_u64().unwrap(), 20));
    }
    let response = house.chat("sim-small", "[[sim out=20 usage=zero]]", json!({})).send().await.unwrap();
    let record = house.record(&request_id(&response)).await;
    assert_eq!((&record["estimated"], &record["charged"]), (&json!(false), &json!(0)));
    let response = house.chat("sim-small", "[[sim fault=nochoices usage=none]]", json!({})).send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(house.record(&request_id(&response)).await["estimated"], true);
}
