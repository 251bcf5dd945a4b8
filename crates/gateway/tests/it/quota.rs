//! Exactly as many as the quota pays, whatever comes at once.

use std::time::Duration;

use serde_json::{Value, json};

use crate::house::House;

/// Sends all at once while the provider holds its answers, so that no refund lets another in.
async fn storm(house: &House, calls: usize) -> Vec<(u16, Value)> {
    house.sim.book().hold(0);
    let running: Vec<_> =
        (0..calls).map(|_| tokio::spawn(house.chat("fixed", "[[sim out=5]]", json!({})).send())).collect();
    let held = testkit::wait::until_async("every call to be decided", Duration::from_secs(60), || async {
        let (held, ended) = (house.sim.book().active().held, running.iter().filter(|call| call.is_finished()).count());
        Ok((held + ended == calls).then_some(held))
    })
    .await
    .unwrap();
    let numbers = house.numbers().await;
    assert_eq!(numbers.frozen, i64::try_from(held).unwrap() * 10_000_000);
    house.sim.book().release();
    let mut answers = Vec::new();
    for call in running {
        let response = call.await.unwrap().unwrap();
        answers.push((response.status().as_u16(), response.json().await.unwrap()));
    }
    answers
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_hundred_at_once_exactly_as_many_as_paid_reach_the_provider() {
    let house = House::with("0.75").await;
    let answers = storm(&house, 200).await;
    assert_eq!(answers.iter().filter(|(status, _)| *status == 200).count(), 7);
    for (status, body) in answers.iter().filter(|(status, _)| *status != 200) {
        assert_eq!(*status, 429, "{body}");
        let error = &body["error"];
        assert_eq!(
            (&error["code"], &error["tollgate"]["level"], &error["tollgate"]["limit"]),
            (&json!("insufficient_quota"), &json!("tenant"), &json!("quota"))
        );
        let units = |name: &str| error["tollgate"][name].as_str().unwrap().replace('.', "").parse::<i64>().unwrap();
        assert_eq!(units("total"), units("used") + units("frozen") + units("remaining"));
        assert!(units("remaining") < 10_000_000);
    }
    house.served(7).await;
    let after = house.settled().await;
    assert_eq!((after.used, after.remaining), (70_000_000, 5_000_000));
    // Whom it refused it reports within seconds.
    testkit::wait::until_async("the report", Duration::from_secs(10), || async {
        let told = "SELECT jsonb_build_array((SELECT sum(requests) FROM refused_quarters WHERE reason = 'quota'),
            (SELECT sum(requests) FROM usage_quarters), (SELECT count(*) FROM service_reports WHERE name = 'gateway'))";
        Ok((house.database.value(told).await? == json!([193, 7, 1])).then_some(()))
    })
    .await
    .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_calls_of_ten_cents_against_five_credits_are_fifty() {
    let house = House::with("5.00").await;
    let calls: Vec<_> =
        (0..100).map(|_| tokio::spawn(house.chat("fixed", "[[sim out=5]]", json!({})).send())).collect();
    let mut served = 0;
    for call in calls {
        served += usize::from(call.await.unwrap().unwrap().status() == 200);
    }
    assert_eq!(served, 50);
    let after = house.settled().await;
    assert_eq!((after.used, after.remaining), (500_000_000, 0));
    house.served(50).await;
}

#[tokio::test]
async fn below_the_need_the_provider_is_never_called() {
    // A prompt of about 15 tokens and 16 of the answer need about 5 000 units.
    let house = House::with("0.00003000").await;
    let response = house.chat("sim-small", "Hello [[sim out=5]]", json!({})).send().await.unwrap();
    assert_eq!(response.status(), 429);
    assert_eq!(response.headers()["x-should-retry"], "false");
    assert_eq!(response.headers()["retry-after"], "60");
    assert_eq!(house.sim.book().ledger(0, 10).len(), 0);
    let after = house.settled().await;
    assert_eq!((after.used, after.remaining), (0, 3_000));
}

#[tokio::test]
async fn the_maximum_is_lowered_to_what_is_left() {
    let house = House::with("0.00020000").await;
    let response = house.chat("sim-small", "Hello [[sim out=500]]", json!({"max_tokens": 1_000})).send().await.unwrap();
    assert_eq!(response.status(), 200);
    let lowered: u32 = response.headers()["x-tollgate-max-tokens"].to_str().unwrap().parse().unwrap();
    assert!((40..100).contains(&lowered), "{lowered}");
    let line = house.served(1).await.remove(0);
    assert_eq!(line.max_tokens, Some(lowered));
    assert!(house.settled().await.remaining >= 0);
}

#[tokio::test]
async fn a_budget_of_the_key_refuses_and_leaves_the_tenant_as_it_was() {
    let house = House::with("5.00").await;
    house
        .sql(&format!(
            "UPDATE api_keys SET budget_amount = 20000000, budget_period = 'month' WHERE id = '{}'",
            house.key_id.uuid()
        ))
        .await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let mut statuses = Vec::new();
    for _ in 0..4 {
        let response = house.chat("fixed", "[[sim out=5]]", json!({})).send().await.unwrap();
        let status = response.status().as_u16();
        if status == 429 {
            let body: Value = response.json().await.unwrap();
            assert_eq!(body["error"]["tollgate"]["level"], "key");
        }
        statuses.push(status);
    }
    assert_eq!(statuses, [200, 200, 429, 429]);
    assert_eq!(house.settled().await.used, 20_000_000);
}
