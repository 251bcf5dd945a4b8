//! Routes that answer at once and not with text: embeddings, rerank, images.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use crate::{
    answer::{Counts, Report},
    ask::{self, Ask, Refusal},
    script::Script,
};

/// Output tokens of one image where the script names none (1024 x 1024, low).
const IMAGE_TOKENS: u32 = 272;
/// A transparent PNG of one pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/// An answer of these routes.
pub(crate) struct Made {
    pub body: Value,
    pub report: Option<Value>,
    pub tokens: u32,
}

fn made(mut body: Value, report: Option<Value>, tokens: u32) -> Made {
    if let Some(usage) = &report {
        body["usage"] = usage.clone();
    }
    Made { body, report, tokens }
}

pub(crate) fn read_embeddings(body: &Value) -> Result<Ask, Refusal> {
    let mut ask = Ask::of(body)?;
    let (texts, prompt) = ask::inputs(body.get("input"), "input", ask.vocabulary())?;
    ask.text = texts.last().cloned().unwrap_or_default();
    ask.prompt = prompt;
    ask.more.items = texts;
    ask.more.size = ask::number(body, "dimensions")?;
    ask.more.format = ask::text(body, "encoding_format").to_owned();
    Ok(ask)
}

/// A vector that depends on the text alone; its numbers are exact in binary and in decimal.
fn vector(text: &str, dimensions: u32) -> Vec<f32> {
    let mut state = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    (0..dimensions)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            if state >> 63 == 0 { 0.03125 } else { -0.03125 }
        })
        .collect()
}

pub(crate) fn embeddings(ask: &Ask, script: &Script) -> Made {
    let dimensions = ask.more.size.unwrap_or(1_536).clamp(1, 4_096);
    let data: Vec<_> = ask
        .more
        .items
        .iter()
        .enumerate()
        .map(|(index, text)| {
            let vector = vector(text, dimensions);
            let embedding = if ask.more.format == "base64" {
                let bytes: Vec<u8> = vector.iter().flat_map(|number| number.to_le_bytes()).collect();
                Value::from(STANDARD.encode(bytes))
            } else {
                json!(vector)
            };
            json!({"object": "embedding", "index": index, "embedding": embedding})
        })
        .collect();
    let prompt = script.prompt.unwrap_or(ask.prompt);
    let usage = Report::new(script.usage, Counts { prompt, ..Counts::default() }).value(
        |counts| json!({"prompt_tokens": counts.prompt, "total_tokens": counts.prompt.saturating_add(counts.output)}),
    );
    made(json!({"object": "list", "model": ask.model, "data": data}), usage, 0)
}

pub(crate) fn read_rerank(body: &Value) -> Result<Ask, Refusal> {
    let mut ask = Ask::of(body)?;
    let vocabulary = ask.vocabulary();
    let query = ask::text(body, "query");
    if query.is_empty() {
        return Err(Refusal::bad("missing required parameter: 'query'"));
    }
    let Some(Value::Array(documents)) =
        body.get("documents").filter(|list| list.as_array().is_some_and(|l| !l.is_empty()))
    else {
        return Err(Refusal::bad("'documents' must be an array that is not empty"));
    };
    for document in documents {
        match document.as_str().or_else(|| document.get("text").and_then(Value::as_str)) {
            Some(text) => ask.more.items.push(text.to_owned()),
            None => return Err(Refusal::bad("'documents' must hold strings or objects with a 'text'")),
        }
    }
    // The query is read once with every document.
    let each = vocabulary.count(query);
    ask.prompt = ask.more.items.iter().map(|text| each + vocabulary.count(text)).sum();
    ask.text = query.to_owned();
    ask.more.size = ask::number(body, "top_n")?;
    ask.more.documents = ask::flag(body, "return_documents")?;
    Ok(ask)
}

/// Scores in thousandths: how many of the document's words the query has.
fn score(query: &str, document: &str) -> usize {
    let words: Vec<_> = document.split_whitespace().collect();
    let hits = words.iter().filter(|word| query.contains(**word)).count();
    (hits * 1_000).checked_div(words.len()).unwrap_or(0)
}

pub(crate) fn rerank(ask: &Ask, script: &Script, id: u64) -> Made {
    let mut scored: Vec<_> =
        ask.more.items.iter().enumerate().map(|(at, text)| (score(&ask.text, text), at, text)).collect();
    scored.sort_by_key(|(score, at, _)| (std::cmp::Reverse(*score), *at));
    scored.truncate(ask.more.size.unwrap_or(u32::MAX) as usize);
    let results: Vec<_> = scored
        .into_iter()
        .map(|(score, at, text)| {
            let score: Value =
                format!("0.{:03}", score.min(999)).parse::<serde_json::Number>().map_or(json!(0), Value::from);
            let mut result = json!({"index": at, "relevance_score": score});
            if ask.more.documents {
                result["document"] = json!({"text": text});
            }
            result
        })
        .collect();
    let prompt = script.prompt.unwrap_or(ask.prompt);
    let usage = Report::new(script.usage, Counts { prompt, ..Counts::default() }).value(
        |counts| json!({"prompt_tokens": counts.prompt, "total_tokens": counts.prompt.saturating_add(counts.output)}),
    );
    made(json!({"id": format!("rerank-sim{id:08}"), "model": ask.model, "results": results}), usage, 0)
}

pub(crate) fn read_image(body: &Value) -> Result<Ask, Refusal> {
    let mut ask = Ask::of(body)?;
    let prompt = ask::text(body, "prompt");
    if prompt.is_empty() {
        return Err(Refusal::bad("missing required parameter: 'prompt'"));
    }
    ask.prompt = ask.vocabulary().count(prompt);
    ask.text = prompt.to_owned();
    ask.more.format = ask::text(body, "response_format").to_owned();
    Ok(ask)
}

pub(crate) fn images(ask: &Ask, script: &Script, id: u64, created: i64) -> Made {
    // The older models are billed by the image and report no tokens.
    let by_tokens = !ask.model.starts_with("dall-e");
    let url = ask.more.format == "url" || (!by_tokens && ask.more.format.is_empty());
    let data: Vec<_> = (0..ask.n)
        .map(|index| {
            if url {
                json!({"url": format!("https://images.invalid/sim{id}-{index}.png")})
            } else {
                json!({"b64_json": PIXEL})
            }
        })
        .collect();
    let output = if by_tokens { script.out.unwrap_or(IMAGE_TOKENS).saturating_mul(ask.n) } else { 0 };
    let counts = Counts { prompt: script.prompt.unwrap_or(ask.prompt), output, ..Counts::default() };
    let report = if by_tokens { Report::new(script.usage, counts) } else { Report::Missing };
    let usage = report.value(|counts| {
        json!({
            "input_tokens": counts.prompt, "output_tokens": counts.output,
            "total_tokens": counts.prompt.saturating_add(counts.output),
            "input_tokens_details": {"text_tokens": counts.prompt, "image_tokens": 0},
        })
    });
    made(json!({"created": created, "data": data}), usage, output)
}
