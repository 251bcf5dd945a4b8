//! Streams byte for byte as providers send them, split at every byte.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;
use tollgate_gateway::dialect::chat::stream::{Verdict, Watcher};
use tollgate_gateway::tokens::Tokenizer;
use tollgate_gateway::wire::sse::{Piece, Splitter};

fn fixtures() -> Vec<(String, Vec<u8>, Value)> {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sse");
    let expected: BTreeMap<String, Value> =
        serde_json::from_slice(&std::fs::read(directory.join("expected.json")).unwrap()).unwrap();
    let openai = expected.into_iter().filter(|(_, expected)| expected["dialect"] == "openai");
    openai
        .map(|(name, expected)| (name.clone(), std::fs::read(directory.join(name)).unwrap(), expected["usage"].clone()))
        .collect()
}

fn relay(chunks: &[&[u8]], include_usage: bool) -> (Vec<u8>, Watcher) {
    let mut watcher = Watcher::new(Arc::new(Tokenizer::named("o200k_base")), include_usage);
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
    assert_eq!(fixtures.len(), 13);
    for (name, stream, usage) in &fixtures {
        let expected = domain::usage::from_openai(usage);
        assert_eq!(expected.is_none(), usage.is_null(), "{name}");
        let (_, mut whole) = relay(&[stream], true);
        for cut in 0..=stream.len() {
            let (left, right) = stream.split_at(cut);
            let (relayed, mut watcher) = relay(&[left, right], true);
            assert_eq!(&relayed, stream, "{name} cut at {cut}");
            assert_eq!(watcher.usage(), expected, "{name} cut at {cut}");
            assert_eq!(watcher.tokens(), whole.tokens(), "{name} cut at {cut}");
        }
        let single: Vec<&[u8]> = stream.chunks(1).collect();
        let (relayed, watcher) = relay(&single, true);
        assert_eq!((&relayed, watcher.usage()), (stream, expected), "{name} byte by byte");
    }
}

#[test]
fn the_usage_chunk_alone_is_hidden_wherever_the_stream_is_cut() {
    for (name, stream, usage) in fixtures() {
        let text = String::from_utf8(stream.clone()).unwrap();
        let hidden = name != "openai-cumulative-usage-in-every-chunk.txt" && !usage.is_null();
        let (whole, _) = relay(&[&stream], false);
        assert_eq!(whole.len() < stream.len(), hidden, "{name}");
        assert_eq!(String::from_utf8_lossy(&whole).matches("[DONE]").count(), text.matches("[DONE]").count(), "{name}");
        assert!(!hidden || !String::from_utf8_lossy(&whole).contains("completion_tokens"), "{name}");
        for cut in 0..=stream.len() {
            let (left, right) = stream.split_at(cut);
            assert_eq!(relay(&[left, right], false).0, whole, "{name} cut at {cut}");
        }
    }
}

#[test]
fn errors_and_ends_are_noticed() {
    for (name, stream, _) in fixtures() {
        let (_, mut watcher) = relay(&[&stream], false);
        assert_eq!(watcher.error().is_some(), name == "openai-error-after-200.txt", "{name}");
        assert!(watcher.is_complete(), "{name}");
        assert!(watcher.has_answer(), "{name}");
        assert!(watcher.tokens() > 0 || name == "openai-multi-line-data.txt", "{name}");
    }
}
