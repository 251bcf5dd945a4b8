//! Embeddings, rerank, images, speech and transcriptions.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use tollgate_sim_upstream::{Vocabulary, words};

use crate::client::{World, events};

#[tokio::test]
async fn embeddings_come_as_numbers_or_base64() {
    let world = World::new().await;
    let mut body = json!({"model": "text-embedding-3-small", "input": ["one", "two words"], "dimensions": 16});
    let plain = world.json("/v1/embeddings", body.clone()).await;
    assert_eq!(plain["data"].as_array().unwrap().len(), 2);
    assert_eq!(plain["data"][0]["embedding"].as_array().unwrap().len(), 16);
    let tokens = Vocabulary::Cl100k.count("one") + Vocabulary::Cl100k.count("two words");
    assert_eq!(plain["usage"], json!({"prompt_tokens": tokens, "total_tokens": tokens}));
    body["encoding_format"] = "base64".into();
    let packed = world.json("/v1/embeddings", body).await;
    let bytes = STANDARD.decode(packed["data"][1]["embedding"].as_str().unwrap()).unwrap();
    let numbers: Vec<f32> = bytes.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect();
    assert_eq!(json!(numbers), plain["data"][1]["embedding"]);
    assert_eq!(world.line().await.usage, Some(packed["usage"].clone()));
}

#[tokio::test]
async fn documents_are_ranked() {
    let world = World::new().await;
    let body = json!({"model": "rerank", "query": "red apple", "top_n": 2, "return_documents": true,
        "documents": ["blue car", {"text": "red apple"}, "red car"]});
    let answer = world.json("/v1/rerank", body).await;
    let order: Vec<_> = answer["results"].as_array().unwrap().iter().map(|result| result["index"].clone()).collect();
    assert_eq!(order, [1, 2]);
    assert_eq!(answer["results"][0]["document"]["text"], "red apple");
    let count = |text| Vocabulary::O200k.count(text);
    let tokens = 3 * count("red apple") + count("blue car") + count("red apple") + count("red car");
    assert_eq!(answer["usage"]["total_tokens"], tokens);
}

#[tokio::test]
async fn images_report_tokens_where_the_model_does() {
    let world = World::new().await;
    let answer = world.json("/v1/images/generations", json!({"model": "gpt-image-1", "prompt": "a cat", "n": 2})).await;
    assert_eq!(answer["data"].as_array().unwrap().len(), 2);
    assert!(STANDARD.decode(answer["data"][0]["b64_json"].as_str().unwrap()).unwrap().starts_with(b"\x89PNG"));
    assert_eq!(answer["usage"]["output_tokens"], 544);
    let old = world.json("/v1/images/generations", json!({"model": "dall-e-3", "prompt": "a cat"})).await;
    assert!(old["data"][0]["url"].is_string());
    assert_eq!(old.get("usage"), None);
}

#[tokio::test]
async fn speech_is_sound_or_events() {
    let world = World::new().await;
    let mut body = json!({"model": "gpt-4o-mini-tts", "voice": "alloy", "input": "say [[sim out=10 chunks=5]]"});
    body["response_format"] = "wav".into();
    let sound = world.post("/v1/audio/speech").json(&body).send().await.unwrap();
    assert_eq!(sound.headers()["content-type"], "audio/wav");
    let bytes = sound.bytes().await.unwrap();
    assert!(bytes.starts_with(b"RIFF") && bytes.len() == 44 + 10 * 400, "{}", bytes.len());
    assert_eq!(world.line().await.usage, None);
    body["stream_format"] = "sse".into();
    let stream = world.post("/v1/audio/speech").json(&body).send().await.unwrap().text().await.unwrap();
    let stream = events(&stream);
    assert_eq!(stream.len(), 6);
    assert_eq!(stream[5].json()["usage"]["output_tokens"], 10);
}

#[tokio::test]
async fn transcriptions_take_a_form() {
    let world = World::new().await;
    let form = |fields: &[(&str, &str)], with_file: bool| {
        let mut body: String = fields
            .iter()
            .map(|(name, value)| format!("--xx\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"))
            .collect();
        if with_file {
            let sound = "\0".repeat(64_000);
            let head = "Content-Disposition: form-data; name=\"file\"; filename=\"a.wav\"\r\nContent-Type: audio/wav";
            body.push_str(&format!("--xx\r\n{head}\r\n\r\n{sound}\r\n"));
        }
        body + "--xx--\r\n"
    };
    let send = async |body: String| {
        let call = world.post("/v1/audio/transcriptions").header("content-type", "multipart/form-data; boundary=xx");
        call.body(body).send().await.unwrap()
    };
    let new = ("model", "gpt-4o-transcribe");
    let plain: Value = send(form(&[new, ("prompt", "[[sim out=6]]")], true)).await.json().await.unwrap();
    assert_eq!(plain["text"], words(0, 6));
    assert_eq!(plain["usage"]["output_tokens"], 6);
    assert_eq!(plain["usage"]["input_token_details"]["audio_tokens"], 20);
    let old: Value = send(form(&[("model", "whisper-1")], true)).await.json().await.unwrap();
    assert_eq!(old["usage"], json!({"type": "duration", "seconds": 2}));
    let stream = send(form(&[new, ("prompt", "[[sim out=6 chunks=3]]"), ("stream", "true")], true)).await;
    let stream = events(&stream.text().await.unwrap());
    assert_eq!(stream.len(), 4);
    assert_eq!(stream[3].json()["text"], words(0, 6));
    assert_eq!(send(form(&[("model", "whisper-1")], false)).await.status(), 400);
}
