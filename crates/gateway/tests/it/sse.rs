//! Streams byte for byte as providers send them, split at every byte.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use domain::usage;
use serde_json::{Value, json};
use tollgate_gateway::dialect::Dialect;
use tollgate_gateway::dialect::asked::Asked;
use tollgate_gateway::dialect::watch::{Verdict, Watch};
use tollgate_gateway::tokens::Tokenizer;
use tollgate_gateway::wire::sse::{Piece, Splitter};

struct Fixture {
    name: String,
    stream: Vec<u8>,
    dialect: Dialect,
    usage: Option<usage::Usage>,
}

fn fixtures() -> Vec<Fixture> {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sse");
    let expected = std::fs::read(directory.join("expected.json")).unwrap();
    let expected: BTreeMap<String, Value> = serde_json::from_slice(&expected).unwrap();
    let fixture = |(name, expected): (String, Value)| {
        let (dialect, usage) = match expected["dialect"].as_str().unwrap() {
            "openai" => (Dialect::Chat, usage::from_openai(&expected["usage"])),
            "openai-responses" => (Dialect::Responses, usage::from_responses(&expected["usage"])),
            "anthropic" => (Dialect::Messages, usage::from_anthropic(&expected["usage"])),
            other => unreachable!("{other}"),
        };
        assert_eq!(usage.is_none(), expected["usage"].is_null(), "{name}");
        Fixture { stream: std::fs::read(directory.join(&name)).unwrap(), name, dialect, usage }
    };
    expected.into_iter().map(fixture).collect()
}

fn relay(dialect: Dialect, chunks: &[&[u8]], include_usage: bool) -> (Vec<u8>, Box<dyn Watch>) {
    let (model, max_tokens, max_field) = (String::new(), None, None);
    let asked = Asked { model, stream: true, include_usage, max_tokens, max_field, n: 1 };
    let mut watcher = dialect.watcher(&Arc::new(Tokenizer::named("o200k_base")), &asked);
    let (mut splitter, mut pieces) = (Splitter::default(), Vec::new());
    for chunk in chunks {
        splitter.push(Bytes::copy_from_slice(chunk), &mut pieces);
    }
    pieces.extend(splitter.finish());
    let mut relayed = Vec::new();
    for piece in &pieces {
        if watcher.see(piece) != Verdict::Hide {
            let (Piece::Event { raw, .. } | Piece::Part { raw, .. } | Piece::Rest(raw)) = piece;
            relayed.extend_from_slice(raw);
        }
    }
    (relayed, watcher)
}

#[test]
fn split_at_every_byte_the_bytes_and_the_usage_are_the_same() {
    let fixtures = fixtures();
    assert_eq!(fixtures.len(), 17);
    for Fixture { name, stream, dialect, usage } in &fixtures {
        let tokens = relay(*dialect, &[stream], true).1.words_mut().exact();
        for cut in 0..=stream.len() {
            let (left, right) = stream.split_at(cut);
            let (relayed, mut watcher) = relay(*dialect, &[left, right], true);
            assert_eq!(&relayed, stream, "{name} cut at {cut}");
            assert_eq!(watcher.usage(), *usage, "{name} cut at {cut}");
            assert_eq!(watcher.words_mut().exact(), tokens, "{name} cut at {cut}");
        }
        let single: Vec<&[u8]> = stream.chunks(1).collect();
        let (relayed, watcher) = relay(*dialect, &single, true);
        assert_eq!((&relayed, watcher.usage()), (stream, *usage), "{name} byte by byte");
    }
}

#[test]
fn the_usage_chunk_alone_is_hidden_wherever_the_stream_is_cut() {
    for Fixture { name, stream, usage, .. } in fixtures().into_iter().filter(|fixture| fixture.dialect == Dialect::Chat)
    {
        let text = String::from_utf8(stream.clone()).unwrap();
        let hidden = name != "openai-cumulative-usage-in-every-chunk.txt" && usage.is_some();
        let (whole, _) = relay(Dialect::Chat, &[&stream], false);
        let shown = String::from_utf8_lossy(&whole);
        assert_eq!(whole.len() < stream.len(), hidden, "{name}");
        assert_eq!(shown.matches("[DONE]").count(), text.matches("[DONE]").count(), "{name}");
        assert!(!hidden || !shown.contains("completion_tokens"), "{name}");
        for cut in 0..=stream.len() {
            let (left, right) = stream.split_at(cut);
            assert_eq!(relay(Dialect::Chat, &[left, right], false).0, whole, "{name} cut at {cut}");
        }
    }
}

#[test]
fn errors_and_ends_are_noticed() {
    for Fixture { name, stream, dialect, .. } in fixtures() {
        let (_, mut watcher) = relay(dialect, &[&stream], false);
        let failed = ["openai-error-after-200.txt", "responses-failed.txt"].contains(&name.as_str());
        assert_eq!(watcher.error().is_some(), failed, "{name}");
        assert!(watcher.is_complete() && watcher.has_answer(), "{name}");
        assert!(watcher.words_mut().exact() > 0 || name == "openai-multi-line-data.txt", "{name}");
    }
}

#[test]
fn a_stream_is_charged_by_its_own_dialect() {
    let fixture = fixtures().into_iter().find(|fixture| fixture.name == "anthropic-basic.txt").unwrap();
    let usage = fixture.usage.unwrap();
    assert_eq!(json!([usage.input, usage.cached_input, usage.output]), json!([25, 100, 15]));
}
