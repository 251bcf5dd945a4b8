//! Speech and transcriptions: bytes passed on as they come, charged to the unit.

use std::time::Duration;

use futures_util::StreamExt;
use serde_json::{Value, json};

use crate::house::{House, NewModel, events, request_id};

async fn house() -> House {
    let house = House::with("1.00").await;
    house.make_other_models().await;
    house
}

fn speak(script: &str, more: Value) -> Value {
    let mut body = json!({"model": "speak", "input": format!("Hello {script}"), "voice": "alloy"});
    body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
    body
}

/// A recording of whole seconds.
fn wav(seconds: usize) -> Vec<u8> {
    let mut file =
        b"RIFF\xff\xff\xff\xffWAVEfmt \x10\0\0\0\x01\0\x01\0\x80\x3e\0\0\x00\x7d\0\0\x02\0\x10\0data\xff\xff\xff\xff"
            .to_vec();
    file.resize(32_000 * seconds, 0);
    file
}

fn count(usage: &Value, kind: &str) -> i64 {
    usage[kind].as_i64().unwrap()
}

#[tokio::test]
async fn sound_is_passed_on_as_it_comes_and_counted_by_its_bytes() {
    let house = house().await;
    for (format, media, bytes_per_token) in
        [("mp3", "audio/mpeg", 800), ("opus", "audio/ogg", 200), ("pcm", "audio/pcm", 2_400)]
    {
        let body = speak("[[sim out=50]]", json!({"response_format": format}));
        let response = house.post("/audio/speech", &body).send().await.unwrap();
        assert_eq!((response.status().as_u16(), response.headers()["content-type"].to_str().unwrap()), (200, media));
        assert_eq!(response.headers()["x-tollgate-model"], "speak");
        let id = request_id(&response);
        let sound = response.bytes().await.unwrap();
        assert_eq!((sound.len(), sound.iter().all(|byte| *byte == 0x80)), (20_000, true));
        let record = house.record(&id).await;
        let usage = &record["usage"];
        assert_eq!(usage["audio_output"], json!(20_000_u64.div_ceil(bytes_per_token)), "{format}");
        assert_eq!(record["charged"], count(usage, "input") * 100 + count(usage, "audio_output") * 200);
        assert_eq!((&record["estimated"], &record["outcome"]), (&json!(true), &json!("final")));
    }
    // As events, the provider reports.
    let body = speak("[[sim out=50 chunks=5]]", json!({"stream_format": "sse"}));
    let response = house.post("/audio/speech", &body).send().await.unwrap();
    let id = request_id(&response);
    let events = events(&response.text().await.unwrap());
    assert!(
        events[0].contains("speech.audio.delta") && events.last().unwrap().contains("speech.audio.done"),
        "{events:?}"
    );
    let record = house.record(&id).await;
    assert_eq!((count(&record["usage"], "audio_output"), &record["estimated"]), (50, &json!(false)));
    assert_eq!(record["charged"], count(&record["usage"], "input") * 100 + 50 * 200);
}

#[tokio::test]
async fn speech_may_be_priced_by_the_character() {
    let house = house().await;
    let upstream = house.make_upstream("voices", &house.sim.url()).await;
    let prices = json!({"input": "15", "output": "0"});
    let model = NewModel { name: "reader", mode: "speech", tokenizer: "characters", prices, ..NewModel::default() };
    house.make_model(model, &[upstream]).await;
    tokio::time::sleep(Duration::from_millis(400)).await;
    let text = "你好, world [[sim out=3]]";
    let response =
        house.post("/audio/speech", &json!({"model": "reader", "input": text, "voice": "a"})).send().await.unwrap();
    let record = house.record(&request_id(&response)).await;
    assert_eq!(record["charged"], i64::try_from(text.chars().count()).unwrap() * 1_500);
}

#[tokio::test]
async fn speech_that_breaks_off_costs_what_came() {
    let house = house().await;
    // The upstream dies: the client's body must not look whole.
    let response =
        house.post("/audio/speech", &speak("[[sim out=100 chunks=10 fault=close:5]]", json!({}))).send().await.unwrap();
    let id = request_id(&response);
    assert!(response.bytes().await.is_err());
    let record = house.record(&id).await;
    assert_eq!(count(&record["usage"], "audio_output"), 25, "20 000 bytes");
    // The client leaves: so does the upstream.
    let script = "[[sim out=4000 chunks=400 delay_ms=20]]";
    let response = house.post("/audio/speech", &speak(script, json!({}))).send().await.unwrap();
    let id = request_id(&response);
    let mut stream = response.bytes_stream();
    stream.next().await.unwrap().unwrap();
    drop(stream);
    let record = house.record(&id).await;
    assert!((1..1_000).contains(&count(&record["usage"], "audio_output")), "{record}");
    assert!(house.served(2).await[1].output_tokens_sent < 2_000);
    // Errors before the first byte cost nothing.
    let before = house.settled().await.used;
    for (script, status) in [
        ("[[sim fault=status:429]]", 429),
        ("[[sim fault=error200]]", 502),
        ("[[sim fault=html]]", 502),
        ("[[sim fault=reset:0]]", 502),
    ] {
        let response = house.post("/audio/speech", &speak(script, json!({}))).send().await.unwrap();
        assert_eq!(response.status(), status, "{script}");
    }
    assert_eq!(house.settled().await.used, before);
}

#[tokio::test]
async fn a_transcription_costs_its_tokens_or_its_seconds() {
    let house = house().await;
    let upstream = house.make_upstream("whispers", &house.sim.url()).await;
    let prices = json!({"input": "0", "audio_input": "10", "output": "0"});
    let model =
        NewModel { name: "whisper", mode: "transcription", prices, upstream_model: "whisper-1", ..NewModel::default() };
    house.make_model(model, &[upstream]).await;
    tokio::time::sleep(Duration::from_millis(400)).await;
    let path = "/audio/transcriptions";
    // 3 seconds at 0.006 a minute.
    let response = house.form(path, &[("model", "whisper")], &wav(3)).send().await.unwrap();
    let record = house.record(&request_id(&response)).await;
    assert_eq!((&record["charged"], &record["estimated"]), (&json!(30_000), &json!(false)));
    // By tokens.
    let fields = [("model", "hear"), ("prompt", "names: [[sim out=9]]"), ("language", "en")];
    let response = house.form(path, &fields, &wav(2)).send().await.unwrap();
    let record = house.record(&request_id(&response)).await;
    let reply: Value = response.json().await.unwrap();
    let usage = &record["usage"];
    assert_eq!((count(usage, "audio_input"), count(usage, "output")), (20, 9));
    assert_eq!(reply["usage"]["input_tokens"], count(usage, "input") + 20);
    assert_eq!(record["charged"], count(usage, "input") * 100 + 20 * 300 + 9 * 200);
    assert_eq!(record["overrun"], false);
    // As plain text nothing is reported: the recording's length and the words are counted.
    let fields = [("model", "hear"), ("response_format", "text"), ("prompt", "[[sim out=9]]")];
    let response = house.form(path, &fields, &wav(2)).send().await.unwrap();
    assert!(response.headers()["content-type"].to_str().unwrap().starts_with("text/plain"));
    let record = house.record(&request_id(&response)).await;
    assert_eq!(response.text().await.unwrap().split_whitespace().count(), 9);
    assert_eq!((count(&record["usage"], "audio_input"), count(&record["usage"], "output")), (20, 9));
    assert_eq!(record["estimated"], true);
    // As events.
    let fields = [("model", "hear"), ("stream", "true"), ("prompt", "[[sim out=9 chunks=3]]")];
    let response = house.form(path, &fields, &wav(1)).send().await.unwrap();
    let id = request_id(&response);
    let events = events(&response.text().await.unwrap());
    assert!(events.last().unwrap().contains("transcript.text.done"), "{events:?}");
    let record = house.record(&id).await;
    assert_eq!((count(&record["usage"], "audio_input"), count(&record["usage"], "output")), (10, 9));
}

#[tokio::test]
async fn a_form_goes_on_as_it_came_but_for_the_model() {
    let house = house().await;
    let path = "/audio/transcriptions";
    let fields = [
        ("x_unknown", "1.50"),
        ("model", "hear"),
        ("timestamp_granularities[]", "word"),
        ("timestamp_granularities[]", "segment"),
    ];
    let request = house.form(path, &fields, b"no sound at all");
    let sent = request.try_clone().unwrap().build().unwrap();
    assert_eq!(request.send().await.unwrap().status(), 200);
    let sent = String::from_utf8(sent.body().unwrap().as_bytes().unwrap().to_vec()).unwrap();
    let line = house.served(1).await.remove(0);
    assert_eq!(line.body.unwrap(), sent.replace("\r\nhear\r\n", "\r\nsim-small\r\n"));
    assert_eq!(line.headers["content-type"], "multipart/form-data; boundary=edge");
    let mut other_head = house.form(path, &[("model", "hear")], b"a").build().unwrap();
    other_head.headers_mut().insert("content-type", "multipart/form-data; boundary=x".parse().unwrap());
    for (request, param) in [
        (house.form(path, &[("model", "hear"), ("model", "whisper")], b"a").build().unwrap(), None),
        (other_head, None),
        (house.form(path, &[], b"a").build().unwrap(), Some("model")),
        (house.form(path, &[("model", "hear"), ("stream", "perhaps")], b"a").build().unwrap(), Some("stream")),
        (house.post(path, &json!({"model": "hear"})).build().unwrap(), None),
    ] {
        let response = house.http.execute(request).await.unwrap();
        assert_eq!(response.status(), 400);
        assert_eq!(response.json::<Value>().await.unwrap()["error"]["param"].as_str(), param);
    }
    house.served(1).await;
}
