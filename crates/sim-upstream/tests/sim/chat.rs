//! Chat completions and completions.

use serde_json::{Value, json};
use tollgate_sim_upstream::{Vocabulary, words};

use crate::client::{World, chat, streamed};

const PATH: &str = "/v1/chat/completions";

#[tokio::test]
async fn a_plain_answer_reports_what_it_holds() {
    let world = World::new().await;
    let answer = world.json(PATH, chat("[[sim out=50]]")).await;
    let text = answer["choices"][0]["message"]["content"].as_str().unwrap();
    assert_eq!(text, words(0, 50));
    assert_eq!(answer["choices"][0]["finish_reason"], "stop");
    assert_eq!(answer["model"], "sim-small");
    // 3 to start the answer, 3 for the message, 1 for its role, and the text.
    let prompt = 7 + Vocabulary::O200k.count("hello [[sim out=50]]");
    assert_eq!(answer["usage"]["prompt_tokens"], prompt);
    assert_eq!(answer["usage"]["completion_tokens"], 50);
    assert_eq!(answer["usage"]["total_tokens"], prompt + 50);
}

#[tokio::test]
async fn an_answer_longer_than_the_maximum_is_cut() {
    let world = World::new().await;
    for name in ["max_tokens", "max_completion_tokens"] {
        let mut body = chat("[[sim out=50]]");
        body[name] = json!(20);
        let answer = world.json(PATH, body.clone()).await;
        assert_eq!(answer["choices"][0]["finish_reason"], "length");
        assert_eq!(answer["usage"]["completion_tokens"], 20);
        body[name] = json!(50);
        assert_eq!(world.json(PATH, body).await["choices"][0]["finish_reason"], "stop");
    }
}

#[tokio::test]
async fn a_stream_joins_to_the_plain_answer() {
    let world = World::new().await;
    let events = world.events(PATH, streamed("[[sim out=50 chunks=10]]")).await;
    assert_eq!(events.last().unwrap().data, "[DONE]");
    let chunks: Vec<Value> = events[..events.len() - 1].iter().map(|event| event.json()).collect();
    let contents: Vec<_> = chunks
        .iter()
        .filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str())
        .filter(|text| !text.is_empty())
        .collect();
    assert_eq!(contents.len(), 10);
    assert_eq!(contents.concat(), words(0, 50));
    assert_eq!(chunks[0]["choices"][0]["delta"]["role"], "assistant");
    assert_eq!(chunks.last().unwrap()["choices"][0]["finish_reason"], "stop");
    assert!(chunks.iter().all(|chunk| chunk.get("usage").is_none()), "usage only where it was asked for");
    assert_eq!(world.line().await.usage, None);
}

#[tokio::test]
async fn a_stream_ends_with_usage_where_it_is_asked_for() {
    let world = World::new().await;
    let mut body = streamed("[[sim out=50]]");
    body["stream_options"] = json!({"include_usage": true});
    let events = world.events(PATH, body).await;
    let chunks: Vec<Value> = events[..events.len() - 1].iter().map(|event| event.json()).collect();
    let (last, others) = chunks.split_last().unwrap();
    assert_eq!(last["choices"], json!([]));
    assert_eq!(last["usage"]["completion_tokens"], 50);
    assert!(others.iter().all(|chunk| chunk["usage"].is_null()));
    assert_eq!(world.line().await.usage.as_ref(), Some(&last["usage"]));
}

#[tokio::test]
async fn several_choices_share_the_prompt_and_are_interleaved() {
    let world = World::new().await;
    let mut body = streamed("[[sim out=6 chunks=3]]");
    body["n"] = json!(5);
    body["stream_options"] = json!({"include_usage": true});
    let events = world.events(PATH, body.clone()).await;
    let order: Vec<_> = events
        .iter()
        .filter(|event| event.data.contains(r#""delta":{"content":"#))
        .map(|event| event.json()["choices"][0]["index"].as_u64().unwrap())
        .collect();
    assert_eq!(order, [0, 1, 2, 3, 4].repeat(3));
    let usage = events[events.len() - 2].json()["usage"].clone();
    assert_eq!(usage["completion_tokens"], 30);
    body["stream"] = json!(false);
    let plain = world.json(PATH, body).await;
    assert_eq!(plain["choices"].as_array().unwrap().len(), 5);
    assert_eq!(plain["usage"], usage);
    assert_eq!(world.line().await.output_tokens_sent, 30);
}

#[tokio::test]
async fn usage_can_be_left_out_or_wrong() {
    let world = World::new().await;
    let usage = async |script: &str| world.json(PATH, chat(script)).await.get("usage").cloned();
    assert_eq!(usage("[[sim usage=none]]").await, None);
    assert_eq!(usage("[[sim fault=nousage]]").await, None);
    assert_eq!(usage("[[sim usage=null]]").await, Some(Value::Null));
    assert_eq!(usage("[[sim usage=empty]]").await, Some(json!({})));
    assert_eq!(usage("[[sim usage=zero]]").await.unwrap()["total_tokens"], 0);
    assert_eq!(usage("[[sim out=10 usage=lie:+5]]").await.unwrap()["completion_tokens"], 15);
    assert_eq!(usage("[[sim out=10 usage=lie:-50]]").await.unwrap()["completion_tokens"], 0);
}

#[tokio::test]
async fn reported_counts_can_be_set() {
    let world = World::new().await;
    let answer =
        world.json(PATH, chat("[[sim out=10 prompt=1000 cached=400 reasoning=30 audio_in=7 audio_out=3]]")).await;
    let usage = &answer["usage"];
    assert_eq!(usage["prompt_tokens"], 1_000);
    assert_eq!(usage["prompt_tokens_details"]["cached_tokens"], 400);
    assert_eq!(usage["prompt_tokens_details"]["audio_tokens"], 7);
    assert_eq!(usage["completion_tokens"], 40);
    assert_eq!(usage["completion_tokens_details"]["reasoning_tokens"], 30);
    assert_eq!(usage["completion_tokens_details"]["audio_tokens"], 3);
    let line = world.line().await;
    assert_eq!((line.prompt_tokens, line.output_tokens_sent), (1_000, 10));
}

#[tokio::test]
async fn the_first_tool_is_called_where_the_script_says_so() {
    let world = World::new().await;
    let mut body = chat("[[sim tool out=30]]");
    body["tools"] = json!([{"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}]);
    let plain = world.json(PATH, body.clone()).await;
    assert_eq!(plain["choices"][0]["finish_reason"], "tool_calls");
    let call = &plain["choices"][0]["message"]["tool_calls"][0]["function"];
    assert_eq!(call["name"], "look_up");
    let arguments = call["arguments"].as_str().unwrap();
    assert!(serde_json::from_str::<Value>(arguments).unwrap()["input"].is_string());
    let tokens = Vocabulary::O200k.count("look_up") + Vocabulary::O200k.count(arguments);
    assert_eq!(plain["usage"]["completion_tokens"], tokens);

    body["stream"] = true.into();
    let events = world.events(PATH, body).await;
    let joined: String = events[..events.len() - 1]
        .iter()
        .filter_map(|event| {
            let call = event.json()["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"].clone();
            call.as_str().map(str::to_owned)
        })
        .collect();
    assert_eq!(joined, arguments);
    assert_eq!(world.sim.book().ledger(1, 1)[0].output_tokens_sent, tokens);
}

#[tokio::test]
async fn content_parts_hold_a_script_too() {
    let world = World::new().await;
    let body = json!({"model": "sim-small", "messages": [
        {"role": "user", "content": "[[sim out=99]]"},
        {"role": "assistant", "content": "before"},
        {"role": "user", "content": [
            {"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "data:,", "detail": "low"}},
            {"type": "text", "text": "[[sim out=3]]"},
        ]},
    ]});
    let usage = world.json(PATH, body).await["usage"].clone();
    assert_eq!(usage["completion_tokens"], 3);
    let texts = ["[[sim out=99]]", "before", "look", "[[sim out=3]]"].map(|text| Vocabulary::O200k.count(text));
    assert_eq!(usage["prompt_tokens"], 3 + 3 * 4 + 85 + texts.iter().sum::<u32>());
}

#[tokio::test]
async fn completions_answer_every_prompt() {
    let world = World::new().await;
    let body = json!({"model": "m", "prompt": ["one", "two [[sim out=4 chunks=2]]"], "stream": true,
        "stream_options": {"include_usage": true}});
    let events = world.events("/v1/completions", body.clone()).await;
    let text: String = events[..events.len() - 1]
        .iter()
        .map(|event| event.json())
        .filter(|chunk| chunk["choices"][0]["index"] == 1)
        .map(|chunk| chunk["choices"][0]["text"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(text, words(0, 4));
    assert_eq!(events[events.len() - 2].json()["usage"]["completion_tokens"], 8);
    let mut plain = body;
    plain["stream"] = false.into();
    plain["max_tokens"] = 3.into();
    let plain = world.json("/v1/completions", plain).await;
    assert_eq!(plain["choices"][0]["finish_reason"], "length");
    assert_eq!(plain["usage"]["completion_tokens"], 6);
    assert_eq!(
        world.json("/v1/completions", json!({"model": "m", "prompt": [1, 2, 3]})).await["usage"]["prompt_tokens"],
        3
    );
}

#[tokio::test]
async fn the_stream_can_take_other_forms() {
    let world = World::new().await;
    let text = async |form: &str| {
        let script = format!("[[sim out=2 chunks=2 sse={form}]]");
        world.post(PATH).json(&streamed(&script)).send().await.unwrap().text().await.unwrap()
    };
    assert!(!text("cr").await.contains('\n'));
    assert_eq!(text("crlf").await.matches("\r\n\r\n").count(), 5);
    assert!(text("bom").await.starts_with('\u{feff}'));
    assert!(text("nospace").await.starts_with("data:{"));
    assert!(!text("nodone").await.contains("[DONE]"));
    assert!(text("noblank").await.ends_with("data: [DONE]\n"));
    assert!(text("comments").await.starts_with(": "));
    assert!(text("multiline").await.starts_with("data: {\ndata: "));
    let cumulative = text("cumulative").await;
    assert!(cumulative.contains(r#""completion_tokens":1,"#) && cumulative.contains(r#""completion_tokens":2,"#));
}
