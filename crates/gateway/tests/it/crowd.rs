//! Many at once: streams, clients that leave, sockets that say little.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::future::join_all;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tollgate_sim_upstream::Ending;

use crate::house::{House, cost, request_id};

const STREAMS: usize = 500;

/// A house whose gateway is given time: provider and clients share its process and cores here.
async fn crowded(credits: &str) -> House {
    let mut house = House::with(credits).await;
    house.patience = Some(Duration::from_secs(5));
    house.sql("UPDATE upstreams SET connect_timeout_ms = 20000, read_timeout_ms = 20000").await;
    house.start_gateway(&[]).await;
    house
}

async fn until_frozen(house: &House) {
    testkit::wait::until_async("all streams to be running", Duration::from_secs(30), || async {
        Ok((house.sim.book().active().answers.len() == STREAMS).then_some(()))
    })
    .await
    .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn five_hundred_streams_run_beside_a_hundred_slow_sockets() {
    let house = crowded("10.00").await;
    let address = house.url.strip_prefix("http://").unwrap().to_owned();
    let mut slow = Vec::new();
    for _ in 0..100 {
        let mut socket = TcpStream::connect(&address).await.unwrap();
        socket.write_all(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-slow: ").await.unwrap();
        slow.push(socket);
    }
    let streams = (0..STREAMS).map(|_| async {
        let sent =
            house.chat("sim-small", "[[sim out=10 chunks=5 delay_ms=600]]", json!({"stream": true})).send().await;
        let response = sent.unwrap();
        let status = response.status();
        let text = response.text().await.unwrap();
        assert_eq!(status, 200, "{text}");
        assert!(text.ends_with("data: [DONE]\n\n"), "{text}");
    });
    let beside = async {
        until_frozen(&house).await;
        let began = Instant::now();
        let response = house.chat("sim-small", "[[sim out=5]]", json!({})).send().await.unwrap();
        assert_eq!(response.status(), 200);
        began.elapsed()
    };
    let (_, took) = tokio::join!(join_all(streams), beside);
    assert!(took < Duration::from_secs(2), "a normal request took {took:?}");
    let served = house.served(STREAMS + 1).await;
    let owed: i64 = served.iter().map(|line| cost(line.prompt_tokens.into(), line.output_tokens_sent.into())).sum();
    assert_eq!(house.settled().await.used, owed);
    drop(slow);
}

#[tokio::test(flavor = "multi_thread")]
async fn five_hundred_clients_leave_and_nothing_stays_in_flight() {
    let house = crowded("100.00").await;
    let ask = json!({"stream": true, "max_tokens": 32_000});
    let streams = futures_util::stream::iter(0..STREAMS).map(|_| async {
        let message = "[[sim out=2000 chunks=1000 delay_ms=700]]";
        let response = house.chat("sim-small", message, ask.clone()).send().await.unwrap();
        let id = request_id(&response);
        let mut body = response.bytes_stream();
        let mut text = String::new();
        while text.matches("\"content\":\"").count() < 2 {
            let Some(chunk) = body.next().await else { panic!("the stream ended: {text}") };
            text.push_str(&String::from_utf8_lossy(&chunk.unwrap()));
        }
        (id, body)
    });
    // Opened some at a time, so that none waits for its first byte longer than a provider may take; at the end all are open.
    let streams: Vec<_> = streams.buffer_unordered(40).collect().await;
    let left = Instant::now();
    let ids: Vec<String> = streams.into_iter().map(|(id, _)| id).collect(); // the bodies are dropped here
    testkit::wait::until_async("the provider to be closed", Duration::from_secs(5), || async {
        Ok(house.sim.book().active().answers.is_empty().then_some(()))
    })
    .await
    .unwrap();
    let took = left.elapsed();
    assert!(took < Duration::from_millis(2_500), "{took:?}, and that is on a machine with other work");
    let numbers = house.settled().await;
    let lines: HashMap<_, _> =
        house.served(STREAMS).await.into_iter().map(|line| (line.request_id.clone(), line)).collect();
    let mut sum = 0;
    for id in &ids {
        let (record, line) = (house.record(id).await, &lines[id]);
        assert_eq!(line.ending, Ending::ClosedByClient);
        let prompt = record["usage"]["input"].as_u64().unwrap();
        let (charged, sent) = (record["charged"].as_i64().unwrap(), u64::from(line.output_tokens_sent));
        assert!(charged > cost(prompt, 0) && charged <= cost(prompt, sent), "{charged} for {sent} tokens: {record}");
        sum += charged;
    }
    assert_eq!((numbers.frozen, numbers.used), (0, sum));
}
