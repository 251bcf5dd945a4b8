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
