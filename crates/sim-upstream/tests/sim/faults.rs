//! What goes wrong on demand.

use std::{
    io::Read as _,
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tollgate_sim_upstream::Ending;

use crate::client::{World, chat, events, read_all, streamed};

const PATH: &str = "/v1/chat/completions";

#[tokio::test]
async fn a_status_comes_in_the_dialects_shape() {
    let world = World::new().await;
    let limited = world.chat("[[sim fault=status:429 retry_after=2]]").await;
    assert_eq!(limited.status(), 429);
    assert_eq!(limited.headers()["retry-after"], "2");
    assert_eq!(limited.json::<Value>().await.unwrap()["error"]["code"], "rate_limit_exceeded");
    let body = serde_json::json!({"model": "m", "max_tokens": 5,
        "messages": [{"role": "user", "content": "[[sim fault=status:529]]"}]});
    let overloaded = world.post("/v1/messages").json(&body).send().await.unwrap();
    assert_eq!(overloaded.status(), 529);
    assert_eq!(overloaded.json::<Value>().await.unwrap()["error"]["type"], "overloaded_error");
    assert!(world.sim.book().ledger(0, 10).iter().all(|line| line.output_tokens_sent == 0 && line.usage.is_none()));
}

#[tokio::test]
async fn other_bodies_take_the_answers_place() {
    let world = World::new().await;
    let error = world.chat("[[sim fault=error200]]").await;
    assert_eq!(error.status(), 200);
    assert!(error.json::<Value>().await.unwrap()["error"]["message"].is_string());
    let html = world.chat("[[sim fault=html]]").await;
    assert_eq!((html.status().as_u16(), html.headers()["content-type"].to_str().unwrap()), (502, "text/html"));
    assert_eq!(world.chat("[[sim fault=html:200]]").await.status(), 200);
    assert!(world.chat("[[sim fault=garbage]]").await.json::<Value>().await.is_err());
    assert_eq!(world.chat("[[sim fault=empty]]").await.bytes().await.unwrap().len(), 0);
    let none = world.chat("[[sim fault=nochoices]]").await.json::<Value>().await.unwrap();
    assert_eq!(none["choices"], serde_json::json!([]));
}

#[tokio::test]
async fn a_stream_is_cut_after_so_many_chunks() {
    let world = World::new().await;
    for fault in ["reset", "close"] {
        let script = format!("[[sim out=10 chunks=5 fault={fault}:3]]");
        let response = world.post(PATH).json(&streamed(&script)).send().await.unwrap();
        let (bytes, broke) = read_all(response).await;
        assert!(broke, "{fault}");
        assert_eq!(String::from_utf8(bytes).unwrap().matches(r#""delta":{"content":"#).count(), 3, "{fault}");
        let line = world.sim.book().ledger(0, 10).pop().unwrap();
        assert_eq!((line.ending, line.output_tokens_sent, line.usage), (Ending::Fault, 6, None));
    }
}

#[tokio::test]
async fn nothing_comes_where_the_break_is_before_the_first_byte() {
    let world = World::new().await;
    for fault in ["reset:0", "close:0"] {
        for body in [chat(&format!("[[sim fault={fault}]]")), streamed(&format!("[[sim fault={fault}]]"))] {
            assert!(world.post(PATH).json(&body).send().await.is_err(), "{fault}");
        }
    }
    assert_eq!(world.sim.book().ledger(0, 10).len(), 4);
}

#[tokio::test]
async fn a_reset_is_a_reset_and_not_an_orderly_end() {
    let world = World::new().await;
    let mut stream = TcpStream::connect(world.sim.url().trim_start_matches("http://")).await.unwrap();
    let body = streamed("[[sim out=4 chunks=4 fault=reset:2]]").to_string();
    let head = format!("POST {PATH} HTTP/1.1\r\nhost: sim\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    let error = stream.read_to_end(&mut bytes).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn a_plain_answer_breaks_in_its_middle() {
    let world = World::new().await;
    let response = world.chat("[[sim out=100 fault=reset:1]]").await;
    let length: usize = response.headers()["content-length"].to_str().unwrap().parse().unwrap();
    let (bytes, broke) = read_all(response).await;
    assert!(broke && bytes.len() == length / 2, "{} of {length}", bytes.len());
    assert_eq!(world.line().await.usage, None);
}

#[tokio::test]
async fn the_length_can_be_too_large() {
    let world = World::new().await;
    let (bytes, broke) = read_all(world.chat("[[sim fault=short]]").await).await;
    assert!(broke && serde_json::from_slice::<Value>(&bytes).is_ok());
}

#[tokio::test]
async fn a_stalled_stream_stays_open_until_the_caller_leaves() {
    let world = World::new().await;
    let response = world.post(PATH).json(&streamed("[[sim out=10 chunks=5 fault=stall:2]]")).send().await.unwrap();
    let read = tokio::time::timeout(Duration::from_millis(300), read_all(response)).await;
    assert!(read.is_err(), "the stream is still open");
    let line = world.line().await;
    assert_eq!((line.ending, line.output_tokens_sent), (Ending::ClosedByClient, 4));
}

#[tokio::test]
async fn an_error_event_can_end_a_stream() {
    let world = World::new().await;
    let stream = world.events(PATH, streamed("[[sim out=10 chunks=5 fault=error:2]]")).await;
    let [.., error, done] = &stream[..] else { panic!("too few events") };
    assert_eq!(error.json()["error"]["type"], "server_error");
    assert_eq!(done.data, "[DONE]");
    assert_eq!(world.line().await.output_tokens_sent, 4);
}

#[tokio::test]
async fn encodings_unpack_to_the_plain_answer_piece_by_piece() {
    let world = World::new().await;
    for (fault, encoding) in [("gzip", "gzip"), ("deflate", "deflate"), ("br", "br")] {
        for body in [chat(&format!("[[sim out=9 fault={fault}]]")), streamed(&format!("[[sim out=9 fault={fault}]]"))] {
            let response = world.post(PATH).json(&body).send().await.unwrap();
            assert_eq!(response.headers()["content-encoding"], encoding);
            let packed = response.bytes().await.unwrap();
            let mut plain = String::new();
            match encoding {
                "gzip" => flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut plain).unwrap(),
                "deflate" => flate2::read::ZlibDecoder::new(&packed[..]).read_to_string(&mut plain).unwrap(),
                _ => brotli::Decompressor::new(&packed[..], 4096).read_to_string(&mut plain).unwrap(),
            };
            if body.get("stream").is_some() {
                assert_eq!(events(&plain).last().unwrap().data, "[DONE]");
            } else {
                assert_eq!(serde_json::from_str::<Value>(&plain).unwrap()["usage"]["completion_tokens"], 9);
            }
        }
    }
}

#[tokio::test]
async fn a_packed_stream_can_break_too() {
    let world = World::new().await;
    let response = world.post(PATH).json(&streamed("[[sim out=10 chunks=5 fault=gzip,close:2]]")).send().await.unwrap();
    let (packed, broke) = read_all(response).await;
    let mut plain = Vec::new();
    let unpacked = flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut plain);
    assert!(broke && unpacked.is_err());
    assert_eq!(String::from_utf8(plain).unwrap().matches(r#""finish_reason":null"#).count(), 1 + 2);
}

#[tokio::test]
async fn bodies_can_be_huge() {
    let world = World::new().await;
    let events = world.events(PATH, streamed("[[sim out=4 chunks=2 fault=huge:300000]]")).await;
    assert_eq!(events.iter().filter(|event| event.data.len() > 300_000).count(), 1);
    assert!(events[1].json()["choices"][0]["delta"]["content"].is_string());
    let bomb = world.chat("[[sim fault=bomb:5000000]]").await;
    assert_eq!(bomb.headers()["content-encoding"], "gzip");
    let packed = bomb.bytes().await.unwrap();
    assert!(packed.len() < 100_000);
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut plain).unwrap();
    assert!(plain.len() > 5_000_000);
}

#[tokio::test]
async fn a_kept_connection_goes_stale() {
    let world = World::new().await;
    let mut stream = TcpStream::connect(world.sim.url().trim_start_matches("http://")).await.unwrap();
    let body = chat("[[sim fault=stale]]").to_string();
    let head = format!("POST {PATH} HTTP/1.1\r\nhost: sim\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await.unwrap();
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.starts_with("HTTP/1.1 200") && text.ends_with('}') && !text.contains("connection: close"), "{text}");
}

#[tokio::test]
async fn any_bytes_can_be_the_answer() {
    let world = World::new().await;
    let bytes = "data: {\"a\":\"é\"}\r\rdata:[DONE]".as_bytes();
    for cut in [0, 1, 7] {
        let script = format!("[[sim raw={} cut={cut} delay_ms=1]]", STANDARD.encode(bytes));
        let response = world.post(PATH).json(&streamed(&script)).send().await.unwrap();
        assert!(response.headers()["content-type"].to_str().unwrap().starts_with("text/event-stream"));
        assert_eq!(read_all(response).await, (bytes.to_vec(), false));
    }
}

#[tokio::test]
async fn pauses_are_kept() {
    let world = World::new().await;
    let begun = Instant::now();
    let response =
        world.post(PATH).json(&streamed("[[sim out=5 chunks=5 delay_ms=50 first_ms=100]]")).send().await.unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(100), "before the head");
    assert!(begun.elapsed() < Duration::from_millis(300), "the head comes with the first chunk");
    response.text().await.unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(300), "four pauses between five chunks");
    let begun = Instant::now();
    world.chat("[[sim delay_ms=80 first_ms=40]]").await;
    assert!(begun.elapsed() >= Duration::from_millis(120));
}

#[tokio::test]
async fn bad_requests_are_refused_with_a_reason() {
    let world = World::new().await;
    for (body, reason) in [
        ("{", "could not parse"),
        ("[]", "must be a JSON object"),
        (r#"{"messages":[]}"#, "model"),
        (r#"{"model":"m"}"#, "messages"),
        (r#"{"model":"m","messages":[]}"#, "at least one"),
        (r#"{"model":"m","messages":[{"role":"user","content":"x"}],"max_tokens":-1}"#, "max_tokens"),
        (r#"{"model":"m","messages":[{"role":"user","content":"x"}],"stream":"yes"}"#, "stream"),
        (r#"{"model":"m","messages":[{"role":"user","content":"[[sim outt=1]]"}]}"#, "outt"),
    ] {
        let response = world.post(PATH).body(body).send().await.unwrap();
        assert_eq!(response.status(), 400, "{body}");
        let text = response.text().await.unwrap();
        assert!(text.contains(reason), "{body}: {text}");
    }
    assert_eq!(world.post("/v1/nothing").send().await.unwrap().status(), 404);
    assert_eq!(world.http.get(format!("{}{PATH}", world.sim.url())).send().await.unwrap().status(), 404);
}
