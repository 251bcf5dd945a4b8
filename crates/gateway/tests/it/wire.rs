//! Bounds on connections, heads and bodies; an orderly stop.

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use tollgate_sim_upstream::Ending;

use crate::house::{House, cost, events, request_id};

#[tokio::test]
async fn slow_heads_are_ended_beside_a_request_that_works() {
    let mut house = House::with("1.00").await;
    house.start_gateway(&["--header-timeout-s", "1"]).await;
    let address = house.url.strip_prefix("http://").unwrap().to_owned();
    let mut slow = Vec::new();
    for start in ["", "P", "GET /v1/models HTTP/1.1\r\nhost: x\r\nx-a: ", "PRI * HTTP/2.0\r\n"] {
        let mut socket = TcpStream::connect(&address).await.unwrap();
        socket.write_all(start.as_bytes()).await.unwrap();
        slow.push((start, socket));
    }
    assert_eq!(house.chat("sim-small", "hi", json!({})).send().await.unwrap().status(), 200);
    for (start, mut socket) in slow {
        let mut rest = Vec::new();
        let ended = tokio::time::timeout(Duration::from_secs(4), socket.read_to_end(&mut rest)).await;
        assert!(ended.is_ok(), "{start:?} is still open");
    }
}

#[tokio::test]
async fn bodies_are_bounded_in_size_and_time() {
    let mut house = House::with("1.00").await;
    house.start_gateway(&["--body-bytes", "10000", "--body-timeout-s", "1"]).await;
    let response = house.chat("sim-small", &"a".repeat(20_000), json!({})).send().await.unwrap();
    assert_eq!(response.status(), 413);
    assert_eq!(response.json::<Value>().await.unwrap()["error"]["code"], "request_too_large");
    let endless = reqwest::Body::wrap_stream(futures_util::stream::pending::<std::io::Result<Vec<u8>>>());
    let began = Instant::now();
    let response = house
        .http
        .post(format!("{}/v1/chat/completions", house.url))
        .bearer_auth(&house.key)
        .body(endless)
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), 408);
    assert!(began.elapsed() < Duration::from_secs(4));
    assert_eq!(house.chat("sim-small", "hi", json!({})).send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn http_2_is_served_like_http_1() {
    let house = House::with("1.00").await;
    let client = reqwest::Client::builder().http2_prior_knowledge().build().unwrap();
    let response = client
        .post(format!("{}/v1/chat/completions", house.url))
        .bearer_auth(&house.key)
        .json(
            &json!({"model": "sim-small", "stream": true, "messages": [{"role": "user", "content": "[[sim out=20]]"}]}),
        )
        .send()
        .await
        .unwrap();
    assert_eq!((response.version(), response.status().as_u16()), (http::Version::HTTP_2, 200));
    let id = request_id(&response);
    assert!(response.text().await.unwrap().ends_with("data: [DONE]\n\n"));
    assert_eq!(house.record(&id).await["usage"]["output"], 20);
}

#[tokio::test]
async fn a_stop_ends_streams_cleanly_and_leaves_nothing_frozen() {
    let mut house = House::with("1.00").await;
    let response = house
        .chat("sim-small", "[[sim out=2000 chunks=1000 delay_ms=50]]", json!({"stream": true}))
        .send()
        .await
        .unwrap();
    let id = request_id(&response);
    let mut body = response.bytes_stream();
    let first = body.next().await.unwrap().unwrap();
    let stopping = tokio::spawn(house.gateway.take().unwrap().stop());
    let mut text = String::from_utf8(first.to_vec()).unwrap();
    while let Some(chunk) = body.next().await {
        text.push_str(std::str::from_utf8(&chunk.unwrap()).unwrap());
    }
    let events = events(&text);
    assert_eq!(events.last().unwrap(), "[DONE]");
    let last: Value = serde_json::from_str(&events[events.len() - 2]).unwrap();
    assert_eq!(
        (&last["x_tollgate"]["stopped"], &last["choices"][0]["finish_reason"]),
        (&json!("shutdown"), &json!("length"))
    );
    stopping.await.unwrap();
    let record = house.record(&id).await;
    assert_eq!(record["outcome"], "final");
    assert!(record["usage"]["output"].as_u64().unwrap() > 10);
    house.start_gateway(&[]).await;
    let numbers = house.numbers().await;
    assert_eq!((numbers.frozen, numbers.used), (0, record["charged"].as_i64().unwrap()));
}

#[tokio::test]
async fn a_reader_that_stops_is_given_up_and_pays_what_was_relayed() {
    let mut house = House::with("1.00").await;
    house.start_gateway(&["--client-stall-s", "1"]).await;
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let address = house.url.strip_prefix("http://").unwrap().parse().unwrap();
    let mut socket = socket.connect(address).await.unwrap();
    let message = "[[sim out=10 fault=huge:60000000]]";
    let body = json!({"model": "sim-small", "stream": true, "messages": [{"role": "user", "content": message}]});
    let (key, body) = (&house.key, body.to_string());
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    socket.write_all((head + &body).as_bytes()).await.unwrap();
    let line = house.served(1).await.remove(0);
    assert_eq!(line.ending, Ending::ClosedByClient, "the provider is not kept waiting for a client that reads nothing");
    let used = house.settled().await.used;
    assert!(used > 0 && used <= cost(line.prompt_tokens.into(), line.output_tokens_sent.into()), "{used}");
}
