//! Postgres stopped, then silent, under streams: loaded tenants notice nothing, and nothing is lost.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::postgres::{Database, Server};
use testkit::proxy::{Mode, TcpProxy};

use crate::house::{House, cost};

const AWAY: Duration = Duration::from_secs(5);

#[tokio::test(flavor = "multi_thread")]
async fn loaded_tenants_go_on_while_postgres_is_stopped_and_while_it_is_silent() {
    let mut server = Server::start().await.unwrap();
    let database = Database::create_on(&server).await.unwrap();
    let proxy = TcpProxy::start(server.address()).await.unwrap();
    let house = House::on(database, Some(proxy.address()), "100.00").await;
    assert_eq!(house.chat("sim-small", "[[sim out=1]]", json!({})).send().await.unwrap().status(), 200);
    let streams: Vec<_> = (0..6)
        .map(|_| {
            let more = json!({"stream": true, "max_tokens": 2_000});
            let call = house.chat("sim-small", "[[sim out=1400 chunks=1400 delay_ms=10]]", more);
            tokio::spawn(async move { call.send().await.unwrap().text().await.unwrap() })
        })
        .collect();
    server.stop_immediately().unwrap();
    proxy.cut();
    let mut calls = 1 + calls_for(&house, AWAY).await;
    server.restart().unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    proxy.set_mode(Mode::BlackHole);
    calls += calls_for(&house, AWAY).await;
    proxy.set_mode(Mode::Forward);
    for stream in streams {
        let text = stream.await.unwrap();
        assert!(text.contains("[DONE]") && !text.contains("x_tollgate") && !text.contains("\"error\""));
    }
    let served = house.served(calls + 6).await;
    let expected: i64 =
        served.iter().map(|line| cost(u64::from(line.prompt_tokens), u64::from(line.output_tokens_sent))).sum();
    testkit::wait::until_async("everything to be recorded", Duration::from_secs(20), || async {
        let count = house.database.value("SELECT count(*) FROM settlements").await?;
        Ok((count == calls + 6).then_some(()))
    })
    .await
    .unwrap();
    assert_eq!(house.settled().await.used, expected);
    let sum =
        house.database.value("SELECT sum(amount)::bigint FROM settlements WHERE outcome = 'final'").await.unwrap();
    assert_eq!(sum, expected);
}

/// Short calls, one after the other; each is served at once. Returns how many.
async fn calls_for(house: &House, time: Duration) -> usize {
    let (began, mut calls) = (Instant::now(), 0);
    while began.elapsed() < time {
        let sent = Instant::now();
        let response = house.chat("sim-small", "[[sim out=3]]", json!({})).send().await.unwrap();
        assert_eq!(response.status(), 200, "{:?} into it", began.elapsed());
        response.bytes().await.unwrap();
        // A key is looked at again every 5 s, for a second at most.
        assert!(sent.elapsed() < Duration::from_millis(1_900), "{:?}", sent.elapsed());
        calls += 1;
        tokio::time::sleep(Duration::from_millis(150)).await;
    }
    calls
}
