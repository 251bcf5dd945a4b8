//! What is frozen: by the model's vocabulary, by what its answers are like, never beyond its maximum.

use std::time::Duration;

use serde_json::{Value, json};

use crate::house::{House, NewModel, request_id};

async fn estimate(house: &House, model: &str, more: Value) -> i64 {
    let response = house.chat(model, "Hello hello hello", more).send().await.unwrap();
    let id = request_id(&response);
    assert_eq!(response.status(), 200, "{}", response.text().await.unwrap());
    response.bytes().await.unwrap();
    house.record(&id).await["estimate"].as_i64().unwrap()
}

#[tokio::test]
async fn vocabularies_come_from_files() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let words = json!({
        "version": "1.0", "added_tokens": [], "pre_tokenizer": {"type": "Whitespace"},
        "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, "Hello": 1}, "unk_token": "[UNK]"},
    });
    std::fs::write(file.path(), words.to_string()).unwrap();
    let mut house = House::with("1.00").await;
    let upstream = house.make_upstream("second", &house.sim.url()).await;
    for (name, tokenizer) in [("by-words", "words"), ("by-bytes", "unknown")] {
        house.make_model(NewModel { name, tokenizer, ..NewModel::default() }, &[upstream]).await;
    }
    house.start_gateway(&["--tokenizers", &format!("words={}", file.path().display())]).await;
    let ask = json!({"max_tokens": 20});
    // 3 words or 17 bytes, 7 tokens of frame, 20 of answer; the safety factor.
    assert_eq!(estimate(&house, "by-words", ask.clone()).await, (10 * 100 + 20 * 200) * 105 / 100);
    assert_eq!(estimate(&house, "by-bytes", ask).await, (24 * 100 + 20 * 200) * 105 / 100);
}

#[tokio::test]
async fn what_most_answers_stay_below_is_frozen_where_nothing_was_asked() {
    let house = House::with("1.00").await;
    let stream = json!({"stream": true});
    let before = estimate(&house, "sim-small", stream.clone()).await;
    house.sql("UPDATE models SET p90_output_tokens = 300").await;
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert_eq!(before - estimate(&house, "sim-small", stream).await, 700 * 210);
    let asked = estimate(&house, "sim-small", json!({"stream": true, "max_tokens": 2_000})).await;
    assert_eq!(asked, before, "what was asked for comes first");
}

#[tokio::test]
async fn a_keys_own_safety_factor_takes_the_place_of_the_models() {
    let house = House::with("1.00").await;
    let ask = json!({"max_tokens": 20});
    let before = estimate(&house, "sim-small", ask.clone()).await;
    house.sql("UPDATE api_keys SET safety_factor = 2.1").await;
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert_eq!(estimate(&house, "sim-small", ask).await, before * 2);
}

#[tokio::test]
async fn a_maximum_beyond_the_models_is_lowered_and_named() {
    let house = House::with("1.00").await;
    for stream in [false, true] {
        for (asked, named) in [(1_000_000, Some("4000")), (4_000, None)] {
            let ask = json!({"max_tokens": asked, "stream": stream});
            let response = house.chat("sim-small", "Hello", ask).send().await.unwrap();
            let lowered = response.headers().get("x-tollgate-max-tokens").map(|max| max.to_str().unwrap().to_owned());
            assert_eq!(lowered.as_deref(), named, "{asked} {stream}");
            response.bytes().await.unwrap();
        }
    }
    assert!(house.served(4).await.iter().all(|line| line.max_tokens == Some(4_000)));
}

#[tokio::test]
async fn spoken_chats_are_frozen_at_the_price_of_sound() {
    let house = House::with("1.00").await;
    let upstream = house.make_upstream("second", &house.sim.url()).await;
    let prices = json!({"input": "1", "output": "2", "audio_input": "10", "audio_output": "20"});
    house.make_model(NewModel { name: "talker", prices, ..NewModel::default() }, &[upstream]).await;
    tokio::time::sleep(Duration::from_millis(400)).await;
    let text = estimate(&house, "talker", json!({"max_tokens": 100})).await;
    let spoken = estimate(&house, "talker", json!({"max_tokens": 100, "modalities": ["text", "audio"]})).await;
    assert_eq!(spoken - text, 100 * 1_800 * 105 / 100);
    let audio = json!({"type": "input_audio", "input_audio": {"data": "A".repeat(99_950), "format": "wav"}});
    let heard = json!({"max_tokens": 100, "messages": [{"role": "user", "content": [{"type": "text", "text": "Hello hello hello"}, audio]}]});
    assert_eq!(estimate(&house, "talker", heard).await - text, 1_000 * 1_000 * 105 / 100);
}

/// Case 32.
#[tokio::test]
async fn a_long_prompt_without_a_maximum_is_frozen_at_its_cost_at_least() {
    let house = House::with("1.00").await;
    house.sql("UPDATE models SET context_window = 400000").await;
    tokio::time::sleep(Duration::from_millis(400)).await;
    let prompt = "hello ".repeat(200_000);
    let response = house.chat("sim-small", &prompt, json!({"stream": true})).send().await.unwrap();
    let id = request_id(&response);
    assert_eq!(response.status(), 200, "{}", response.text().await.unwrap());
    response.bytes().await.unwrap();
    let record = house.record(&id).await;
    let (frozen, charged) = (record["frozen"].as_i64().unwrap(), record["charged"].as_i64().unwrap());
    assert!(frozen >= 200_000 * 100, "{frozen}");
    assert!(charged >= 200_000 * 100 && charged <= frozen, "{charged} of {frozen}");
    // What such a prompt costs alone is beyond what is left: refused before the provider sees it.
    let served = house.served(1).await.len();
    house.sql("UPDATE grant_balances SET amount = used + 100").await;
    house.sql("UPDATE accounts SET total = used + 100, version = version + 1 WHERE level = 'tenant'").await;
    house.redis.command(&["FLUSHALL"]).unwrap();
    let refused = house.chat("sim-small", &prompt, json!({"stream": true})).send().await.unwrap();
    assert_eq!(refused.status(), 429);
    assert_eq!(house.served(served).await.len(), 1);
}
