//! Requests, replies and streams in the other dialect: golden files, and streams split at every byte.

use std::sync::Arc;

use bytes::Bytes;
use domain::usage::{self, Usage};
use serde_json::{Value, json};
use tollgate_gateway::dialect::Dialect;
use tollgate_gateway::dialect::asked::{Asked, Changes};
use tollgate_gateway::dialect::watch::{Ending, Stopped, Verdict};
use tollgate_gateway::tokens::Tokenizer;
use tollgate_gateway::translate::{Bounds, Frame, Translation};
use tollgate_gateway::wire::sse::{Piece, Splitter};

const BOUNDS: Bounds = Bounds { max_output_tokens: 4_000, hidden_reasoning: false };
const BOTH: [(Translation, &str, Dialect); 2] = [
    (Translation::ChatByMessages, "chat", Dialect::Messages),
    (Translation::MessagesByChat, "messages", Dialect::Chat),
];

fn golden(name: &str) -> Vec<Value> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/translate").join(name);
    let cases: Vec<Value> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    assert!(cases.len() > 5, "{name}");
    cases
}

fn frame(include_usage: bool) -> Frame {
    Frame { id: "r".to_owned(), model: "m".to_owned(), now: 1_700_000_000, prompt_tokens: 9, include_usage }
}

#[test]
fn every_request_has_its_counterpart() {
    for (translation, client, upstream) in BOTH {
        for case in golden(&format!("{client}-requests.json")) {
            let translated = translation.request(case["from"].to_string().as_bytes(), BOUNDS);
            let translated = translated.unwrap_or_else(|bad| panic!("{}: {}: {bad}", case["name"], bad.param));
            let body: Value = serde_json::from_slice(&translated.body).unwrap();
            assert_eq!(body, case["to"], "{}", case["name"]);
            assert_eq!(translated.dialect, upstream);
        }
    }
}

#[test]
fn what_has_no_counterpart_is_refused_by_name() {
    for (translation, client, _) in BOTH {
        for case in golden(&format!("{client}-refusals.json")) {
            let refused = translation.request(case["from"].to_string().as_bytes(), BOUNDS);
            let refused = refused.expect_err(&case["from"].to_string());
            assert_eq!(refused.param, case["param"].as_str().unwrap(), "{}: {refused}", case["from"]);
            assert!(refused.message.contains('`'), "{refused}");
        }
    }
}

#[test]
fn a_schema_and_a_text_stay_as_they_were_written() {
    let body = r#"{"model":"m","messages":[{"role":"user","content":"\u00e9"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"z":1.50,"a":[ ]}}}]}"#;
    let translated = Translation::ChatByMessages.request(body.as_bytes(), BOUNDS).unwrap();
    let text = std::str::from_utf8(&translated.body).unwrap();
    assert!(text.contains(r#""text":"\u00e9""#) && text.contains(r#""input_schema":{"z":1.50,"a":[ ]}"#), "{text}");
    let back = Translation::MessagesByChat.request(&translated.body, BOUNDS).unwrap();
    assert!(std::str::from_utf8(&back.body).unwrap().contains(r#""parameters":{"z":1.50,"a":[ ]}"#));
}

#[test]
fn a_translated_request_takes_the_targets_changes() {
    let changes = Changes { upstream_model: "up", lowered_max: Some(7), hidden_reasoning: true };
    let body = json!({"model": "m", "max_tokens": 90, "stream": true, "messages": [{"role": "user", "content": "a"}]});
    let hidden = Bounds { hidden_reasoning: true, ..BOUNDS };
    for (translation, expected) in [
        (Translation::ChatByMessages, json!({"model": "up", "max_tokens": 7, "stream": true})),
        (
            Translation::MessagesByChat,
            json!({"model": "up", "max_completion_tokens": 7, "stream": true, "stream_options": {"include_usage": true}}),
        ),
    ] {
        let translated = translation.request(body.to_string().as_bytes(), hidden).unwrap();
        let text = translated.dialect.rewrite(&translated.body, &translated.asked, changes).unwrap();
        let mut sent: Value = serde_json::from_slice(&text).unwrap();
        sent.as_object_mut().unwrap().remove("messages");
        assert_eq!(sent, expected);
    }
}

#[test]
fn every_reply_has_its_counterpart() {
    for (translation, client, upstream) in BOTH {
        for case in golden(&format!("{client}-replies.json")) {
            let usage = match upstream {
                Dialect::Messages => usage::from_anthropic(&case["from"]["usage"]),
                _ => usage::from_openai(&case["from"]["usage"]),
            };
            let reply = translation.reply(case["from"].to_string().as_bytes(), &usage.unwrap(), &frame(false));
            let reply: Value = serde_json::from_slice(&reply).unwrap();
            assert_eq!(reply, case["to"], "{}", case["name"]);
        }
    }
}

/// An upstream's stream of events, comments and bare data.
fn wire(events: &[Value], end: &str) -> String {
    let event = |event: &Value| match (event.as_str(), event["type"].as_str()) {
        (Some(comment), _) if comment.starts_with(':') => format!("{comment}{end}{end}"),
        (Some(data), _) => format!("data: {data}{end}{end}"),
        (None, Some(kind)) => format!("event: {kind}{end}data: {event}{end}{end}"),
        (None, None) => format!("data: {event}{end}{end}"),
    };
    events.iter().map(event).collect()
}

/// What the client reads of a stream that comes in these chunks, as the relay writes it.
fn relay(translation: Translation, upstream: Dialect, chunks: &[&[u8]], include_usage: bool) -> String {
    let asked = Asked {
        model: String::new(),
        stream: true,
        include_usage: upstream == Dialect::Chat || include_usage,
        max_tokens: None,
        max_field: None,
        n: 1,
    };
    let mut watcher = upstream.watcher(&Arc::new(Tokenizer::named("o200k_base")), &asked);
    let mut translator = translation.stream(frame(include_usage));
    let (mut splitter, mut pieces) = (Splitter::default(), Vec::new());
    for chunk in chunks {
        splitter.push(Bytes::copy_from_slice(chunk), &mut pieces);
    }
    pieces.extend(splitter.finish());
    let mut out = String::new();
    for piece in &pieces {
        if watcher.see(piece) == Verdict::Done {
            break;
        }
        match translator.piece(piece) {
            Ok(events) => out.push_str(std::str::from_utf8(&events).unwrap()),
            Err(why) => return format!("{out}failed: {why}\n\n"),
        }
    }
    if !watcher.is_complete() {
        return format!("{out}failed: not complete\n\n");
    }
    let usage = watcher.usage().unwrap_or_else(|| Usage::of_tokens(9, watcher.words_mut().exact()));
    format!("{out}{}", std::str::from_utf8(&translator.end(&usage)).unwrap())
}

fn events(text: &str) -> Vec<Value> {
    assert!(text.ends_with("\n\n"));
    text.split_terminator("\n\n")
        .map(|event| {
            let data = event.lines().find_map(|line| line.strip_prefix("data: "));
            let parsed = data.and_then(|data| serde_json::from_str::<Value>(data).ok());
            if let Some(name) = event.lines().find_map(|line| line.strip_prefix("event: ")) {
                assert_eq!(parsed.as_ref().unwrap()["type"], name);
            }
            parsed.unwrap_or_else(|| data.unwrap_or(event).into())
        })
        .collect()
}

#[test]
fn every_stream_has_its_counterpart() {
    for (translation, client, upstream) in BOTH {
        for case in golden(&format!("{client}-streams.json")) {
            let from = wire(case["from"].as_array().unwrap(), "\n");
            let got = Value::from(events(&relay(translation, upstream, &[from.as_bytes()], true)));
            assert_eq!(got, case["to"], "{client}: {}", case["name"]);
        }
    }
}

#[test]
fn a_chat_client_gets_the_usage_chunk_only_if_it_asked() {
    let case = &golden("chat-streams.json")[0];
    let from = wire(case["from"].as_array().unwrap(), "\n");
    let text = relay(Translation::ChatByMessages, Dialect::Messages, &[from.as_bytes()], false);
    assert!(!text.contains("usage") && text.ends_with("data: [DONE]\n\n"), "{text}");
    assert_eq!(events(&text).len(), case["to"].as_array().unwrap().len() - 1);
}

#[test]
fn split_anywhere_the_translation_is_the_same() {
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sse");
    for (translation, client, upstream) in BOTH {
        let mut streams: Vec<Vec<u8>> = Vec::new();
        for case in golden(&format!("{client}-streams.json")) {
            let from = case["from"].as_array().unwrap();
            streams.extend(["\n", "\r\n", "\r"].map(|end| wire(from, end).into_bytes()));
        }
        let prefix = if upstream == Dialect::Messages { "anthropic-" } else { "openai-" };
        for file in std::fs::read_dir(&fixtures).unwrap().map(|file| file.unwrap().path()) {
            if file.file_name().unwrap().to_str().unwrap().starts_with(prefix) {
                streams.push(std::fs::read(file).unwrap());
            }
        }
        assert!(streams.len() > 20);
        for stream in &streams {
            let whole = relay(translation, upstream, &[stream], true);
            for cut in 0..=stream.len() {
                let (left, right) = stream.split_at(cut);
                let cut_up = relay(translation, upstream, &[left, right], true);
                assert_eq!(cut_up, whole, "cut at {cut}: {}", String::from_utf8_lossy(stream));
            }
            let single: Vec<&[u8]> = stream.chunks(1).collect();
            assert_eq!(relay(translation, upstream, &single, true), whole);
        }
    }
}

#[test]
fn the_gateways_own_ending_closes_what_is_open() {
    let ending = Ending { stopped: Stopped::Quota, usage: Usage::of_tokens(7, 3), id: "r", model: "m", now: 1 };
    for (translation, client, _) in BOTH {
        let case = &golden(&format!("{client}-streams.json"))[1];
        let mut translator = translation.stream(frame(false));
        let (mut splitter, mut pieces) = (Splitter::default(), Vec::new());
        // Into the text block.
        let from = wire(&case["from"].as_array().unwrap()[..3], "\n");
        splitter.push(Bytes::from(from), &mut pieces);
        for piece in &pieces[..2 + usize::from(client == "chat")] {
            translator.piece(piece).unwrap();
        }
        let end = events(std::str::from_utf8(&translator.stop(ending)).unwrap());
        if client == "messages" {
            assert_eq!(end[0], json!({"type": "content_block_stop", "index": 0}));
            assert_eq!(
                (&end[1]["delta"]["stop_reason"], &end[1]["usage"]["output_tokens"]),
                (&json!("max_tokens"), &json!(3))
            );
            assert_eq!((&end[1]["x_tollgate"]["stopped"], &end[2]["type"]), (&json!("quota"), &json!("message_stop")));
        } else {
            assert_eq!((&end[0]["choices"][0]["finish_reason"], &end[0]["id"]), (&json!("length"), &json!("msg_1")));
            assert_eq!(
                (&end[0]["usage"]["total_tokens"], &end[0]["x_tollgate"]["stopped"]),
                (&json!(10), &json!("quota"))
            );
            assert_eq!(end[1], "[DONE]");
        }
    }
}

#[test]
fn an_event_too_large_to_hold_ends_the_stream() {
    for (translation, ..) in BOTH {
        let part = Piece::Part { raw: Bytes::from_static(b"data: {"), tail: None };
        assert!(translation.stream(frame(false)).piece(&part).is_err());
    }
}
