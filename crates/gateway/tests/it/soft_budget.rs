//! Soft budgets of a project: warned, moved to a cheaper model, refused at the end.

use std::time::Duration;

use domain::{PeriodLabel, Scope};
use serde_json::{Value, json};

use crate::house::{House, NewModel, request_id};

/// With a monthly budget of the project of 0.01 credits and a soft one; `dear` costs ten times what `sim-small` does.
async fn house(soft: Value) -> House {
    let house = House::with("1.00").await;
    let upstream = house.make_upstream("second", &house.sim.url()).await;
    let prices = json!({"input": "10", "output": "20"});
    house.make_model(NewModel { name: "dear", prices, ..NewModel::default() }, &[upstream]).await;
    house
        .sql(&format!("UPDATE projects SET budget_amount = 1000000, budget_period = 'month', soft_budget = '{soft}'"))
        .await;
    tokio::time::sleep(Duration::from_millis(400)).await;
    house
}

async fn call(house: &House, model: &str, script: &str) -> reqwest::Response {
    let response = house.chat(model, script, json!({"max_tokens": 30})).send().await.unwrap();
    if response.status() == 200 {
        house.record(&request_id(&response)).await;
        house.settled().await;
    }
    response
}

fn header<'a>(response: &'a reqwest::Response, name: &str) -> Option<&'a str> {
    response.headers().get(name).map(|value| value.to_str().unwrap())
}

/// Model, downgraded, warning.
fn told(response: &reqwest::Response) -> [Option<&str>; 3] {
    assert_eq!(response.status(), 200);
    ["x-tollgate-model", "x-tollgate-downgraded", "x-quota-warning"].map(|name| header(response, name))
}

#[tokio::test]
async fn from_the_percentage_on_calls_move_to_the_cheaper_model_until_the_end() {
    let mut house = house(json!({"percent": 60, "action": "downgrade", "model": "sim-small"})).await;
    assert_eq!(told(&call(&house, "dear", "[[sim prompt=500 out=20]]").await), [Some("dear"), None, None]);
    // 0.0060 of 0.0100 are spent now.
    assert_eq!(told(&call(&house, "dear", "[[sim prompt=56 out=2]]").await), [Some("dear"), None, None]);
    let moved = call(&house, "dear", "[[sim prompt=100 out=20]]").await;
    assert_eq!(told(&moved), [Some("sim-small"), Some("true"), Some("40%")]);
    let record = house.record(&request_id(&moved)).await;
    assert_eq!((&record["model"], &record["charged"]), (&json!("sim-small"), &json!(100 * 100 + 20 * 200)));
    assert_eq!(moved.json::<Value>().await.unwrap()["choices"].as_array().unwrap().len(), 1);
    let own = call(&house, "sim-small", "Hello").await;
    assert_eq!(told(&own), [Some("sim-small"), None, Some("40%")], "it asked for that one");
    assert_eq!(told(&call(&house, "fixed", "Hello").await), [Some("sim-small"), Some("true"), Some("40%")]);
    // It is told once.
    let events =
        house.database.rows("SELECT scope, data FROM outbox WHERE type = 'budget.soft_reached'").await.unwrap();
    assert_eq!((events.len(), &events[0]["data"]["threshold_percent"]), (1, &json!(60)));
    // A gateway that has just started knows from Postgres.
    house.start_gateway(&[]).await;
    assert_eq!(told(&call(&house, "dear", "[[sim prompt=3500 out=10]]").await)[0], Some("sim-small"));
    // At the end even the cheaper one is refused, though the tenant has plenty.
    let spend = "[[sim prompt=100000 out=1]]";
    call(&house, "sim-small", spend).await;
    let refused = call(&house, "dear", "Hello").await;
    assert_eq!(refused.status(), 429);
    let refused: Value = refused.json().await.unwrap();
    assert_eq!(
        (&refused["error"]["code"], &refused["error"]["tollgate"]["level"]),
        (&json!("insufficient_quota"), &json!("project"))
    );
}

#[tokio::test]
async fn a_warning_changes_nothing_else() {
    let house = house(json!({"percent": 50, "action": "warn"})).await;
    assert_eq!(told(&call(&house, "dear", "[[sim prompt=500 out=20]]").await), [Some("dear"), None, None]);
    assert_eq!(told(&call(&house, "dear", "[[sim prompt=10 out=2]]").await), [Some("dear"), None, Some("50%")]);
    // Thresholds of the tenant that were crossed too say more.
    assert_eq!(told(&call(&house, "sim-small", "[[sim prompt=3500 out=20]]").await)[2], Some("50%"));
    assert_eq!(told(&call(&house, "sim-small", "Hello").await)[2], Some("10%"));
    let dearer = json!({"percent": 50, "action": "downgrade", "model": "dear"});
    house.sql(&format!("UPDATE projects SET soft_budget = '{dearer}'")).await;
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert_eq!(
        told(&call(&house, "sim-small", "Hello").await)[..2],
        [Some("sim-small"), None],
        "no dearer one is taken"
    );
}

#[tokio::test]
async fn another_gateways_spending_is_heard_of() {
    let house = house(json!({"percent": 60, "action": "downgrade", "model": "sim-small"})).await;
    assert_eq!(told(&call(&house, "dear", "Hello").await)[0], Some("dear"));
    let label = house.database.rows("SELECT scope FROM accounts WHERE level = 'project' AND total > 0").await.unwrap();
    let scope: Scope = label[0]["scope"].as_str().unwrap().parse().unwrap();
    assert!(scope.period().is_some_and(|label| *label != PeriodLabel::none()));
    house.sql(&format!("UPDATE accounts SET used = 700000, version = version + 1 WHERE scope = '{scope}'")).await;
    let began = std::time::Instant::now();
    while told(&call(&house, "dear", "[[sim prompt=1 out=1]]").await)[0] != Some("sim-small") {
        assert!(began.elapsed() < Duration::from_secs(15));
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
}
