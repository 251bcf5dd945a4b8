//! Several targets of one model: the next one before the first byte, under one freeze.

use serde_json::{Value, json};
use tollgate_sim_upstream::Running;

use crate::house::{House, NewModel, request_id};

#[tokio::test]
async fn the_next_target_serves_when_the_first_can_not_be_reached() {
    let house = House::with("1.00").await;
    let nobody = house.make_upstream("nobody", "http://127.0.0.1:9").await;
    let second = house.make_upstream("second", &house.sim.url()).await;
    house.make_model(NewModel { name: "both", ..NewModel::default() }, &[nobody, second]).await;
    tokio::time::sleep(std::time::Duration::from_millis(400)).await;
    let response = house.chat("both", "[[sim out=20]]", json!({})).send().await.unwrap();
    assert_eq!(response.status(), 200);
    let record = house.record(&request_id(&response)).await;
    let attempts = record["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 2, "{record}");
    assert_eq!((&attempts[0]["status"], &attempts[1]["status"]), (&Value::Null, &json!(200)));
    assert!(attempts[0]["error"].is_string() && attempts[1].get("error").is_none_or(Value::is_null));
}

#[tokio::test]
async fn a_failing_provider_is_passed_over_but_a_bad_request_is_not_tried_twice() {
    let house = House::with("1.00").await;
    // Another provider with another key: this gateway's key is refused there.
    let closed =
        Running::start(tollgate_sim_upstream::Config { api_key: Some("another".to_owned()), ..Default::default() })
            .await
            .unwrap();
    let first = house.make_upstream("closed", &closed.url()).await;
    let second = house.make_upstream("second", &house.sim.url()).await;
    house.make_model(NewModel { name: "both", ..NewModel::default() }, &[first, second]).await;
    tokio::time::sleep(std::time::Duration::from_millis(400)).await;
    let response = house.chat("both", "[[sim out=20]]", json!({"stream": true})).send().await.unwrap();
    assert_eq!(response.status(), 200);
    let id = request_id(&response);
    response.bytes().await.unwrap();
    assert_eq!(house.record(&id).await["attempts"].as_array().unwrap().len(), 2);
    let third = house.make_upstream("third", &house.sim.url()).await;
    house.make_model(NewModel { name: "two", ..NewModel::default() }, &[second, third]).await;
    tokio::time::sleep(std::time::Duration::from_millis(400)).await;
    for (fault, tries) in [("status:400", 1), ("status:503", 2), ("status:429", 2), ("reset:0", 1)] {
        let response = house.chat("two", &format!("[[sim fault={fault}]]"), json!({})).send().await.unwrap();
        let record = house.record(&request_id(&response)).await;
        assert_eq!(record["attempts"].as_array().unwrap().len(), tries, "{fault}: {record}");
        assert_eq!(record["outcome"], "rolled_back");
    }
}

/// A provider that answers everything with one status and body.
async fn stubborn(status: &'static str, body: &'static str) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut request = vec![0; 64 * 1024];
                let _ = socket.read(&mut request).await;
                let length = body.len();
                let answer = format!(
                    "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
                );
                let _ = socket.write_all(answer.as_bytes()).await;
                let _ = socket.shutdown().await;
            });
        }
    });
    url
}

/// How many targets a call tries; it is served in any case.
async fn tries(house: &House, model: &str) -> usize {
    let response = house.chat(model, "[[sim out=5]]", json!({})).send().await.unwrap();
    assert_eq!(response.status(), 200);
    house.record(&request_id(&response)).await["attempts"].as_array().unwrap().len()
}

#[tokio::test]
async fn a_target_that_goes_on_failing_is_tried_last_for_a_while() {
    let mut house = House::with("1.00").await;
    let nobody = house.make_upstream("nobody", "http://127.0.0.1:9").await;
    let second = house.make_upstream("second", &house.sim.url()).await;
    house.make_model(NewModel { name: "both", ..NewModel::default() }, &[nobody, second]).await;
    house.make_model(NewModel { name: "alone", ..NewModel::default() }, &[nobody]).await;
    house.start_gateway(&["--eject-after", "3", "--eject-s", "2"]).await;
    let mut seen = Vec::new();
    for _ in 0..5 {
        seen.push(tries(&house, "both").await);
    }
    assert_eq!(seen, [2, 2, 2, 1, 1]);
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    assert_eq!([tries(&house, "both").await, tries(&house, "both").await], [2, 1], "one probe, then a longer pause");
    // The only target is tried though it is ejected or not: each model's target has its own health.
    for _ in 0..5 {
        let response = house.chat("alone", "hi", json!({})).send().await.unwrap();
        assert_eq!(response.status(), 502);
        assert_eq!(house.record(&request_id(&response)).await["attempts"].as_array().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn an_account_without_funds_is_parked_with_all_its_targets() {
    let mut house = House::with("1.00").await;
    let body = r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#;
    let poor = house.make_upstream("poor", &stubborn("429 Too Many Requests", body).await).await;
    let second = house.make_upstream("second", &house.sim.url()).await;
    for name in ["both", "others"] {
        house.make_model(NewModel { name, ..NewModel::default() }, &[poor, second]).await;
    }
    house.make_model(NewModel { name: "alone", ..NewModel::default() }, &[poor]).await;
    house.start_gateway(&["--park-s", "3"]).await;
    assert_eq!(tries(&house, "both").await, 2);
    let parked = std::time::Instant::now();
    assert_eq!(tries(&house, "both").await, 1, "at once, not after some failures");
    assert_eq!(tries(&house, "others").await, 1, "its other targets too");
    tokio::time::sleep(std::time::Duration::from_millis(3_100).saturating_sub(parked.elapsed())).await;
    assert_eq!(tries(&house, "both").await, 2, "asked again");
    let response = house.chat("alone", "hi", json!({})).send().await.unwrap();
    assert_eq!(response.status(), 502, "never the caller's fault");
    let body: Value = response.json().await.unwrap();
    assert_eq!(body["error"]["code"], "upstream_auth");
}
