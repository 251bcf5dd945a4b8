//! `POST /v1/messages` and `/v1/messages/count_tokens`.

use serde_json::{Value, json};

use super::error_body;
use crate::{
    answer::{Answer, Counts, Finish},
    ask::{self, Ask, Dialect, Refusal},
    reel::Reel,
    stage::Stage,
};

/// Reads a message; `count_tokens` needs no maximum.
pub(crate) fn read(body: &Value, needs_maximum: bool) -> Result<Ask, Refusal> {
    let mut ask = Ask::of(body)?;
    let messages = ask::messages(body)?;
    let vocabulary = ask.vocabulary();
    ask.text = ask::last_user_text(messages);
    let system = body.get("system").map(ask::content_text).unwrap_or_default();
    ask.prompt =
        ask::messages_tokens(messages, vocabulary) + vocabulary.count(&system) + ask::tools_tokens(body, vocabulary);
    ask.max_out = ask::number(body, "max_tokens")?;
    ask.n = 1;
    if needs_maximum && ask.max_out.is_none() {
        return Err(Refusal::bad("max_tokens: Field required"));
    }
    ask.tools = ask::tool_names(body, "/name");
    Ok(ask)
}

/// Anthropic's convention: `input_tokens` are those neither read from nor written to a cache.
pub(crate) fn usage(counts: &Counts) -> Value {
    json!({
        "input_tokens": counts.prompt.saturating_sub(counts.cached).saturating_sub(counts.cache_write),
        "cache_creation_input_tokens": counts.cache_write,
        "cache_read_input_tokens": counts.cached,
        "cache_creation": {"ephemeral_5m_input_tokens": counts.cache_write, "ephemeral_1h_input_tokens": 0},
        "output_tokens": counts.output,
        "service_tier": "standard",
    })
}

fn stop_reason(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "end_turn",
        Finish::Length => "max_tokens",
        Finish::Tool => "tool_use",
    }
}

/// A block: the text, or one of the calls.
fn block(answer: &Answer<'_>, index: usize, text: &str, input: &Value) -> Value {
    match answer.calls.get(index) {
        Some(tool) => {
            json!({"type": "tool_use", "id": format!("toolu_sim{}", answer.call_id(index)), "name": tool, "input": input})
        }
        None => json!({"type": "text", "text": text}),
    }
}

fn message(answer: &Answer<'_>, content: &Value, stop: Option<&str>, usage: Option<Value>) -> Value {
    let mut body = json!({
        "id": format!("msg_sim{:08}", answer.id), "type": "message", "role": "assistant", "model": answer.ask.model,
        "content": content, "stop_reason": stop, "stop_sequence": null,
    });
    if let Some(usage) = usage {
        body["usage"] = usage;
    }
    body
}

pub(crate) fn whole(answer: &Answer<'_>) -> Value {
    let content = if answer.script.faults.no_choices {
        json!([])
    } else {
        let input = answer.arguments.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or(json!({}));
        let blocks = 0..answer.calls.len().max(1);
        blocks.map(|index| block(answer, index, &answer.text(), &input)).collect()
    };
    message(answer, &content, Some(stop_reason(answer.finish)), answer.report.value(usage))
}

pub(crate) fn count_tokens(tokens: u32) -> Value {
    json!({"input_tokens": tokens})
}

pub(crate) fn stream(answer: &Answer<'_>) -> Result<Reel, Refusal> {
    let pieces = answer.pieces();
    let mut stage = Stage::new(answer.script, pieces.len());
    // At the start the provider knows the prompt and has made one token.
    let first = answer.report.value(|counts| usage(&Counts { output: counts.output.min(1), ..*counts }));
    let start = message(answer, &json!([]), None, first);
    stage.follow(Some("message_start"), &json!({"type": "message_start", "message": start}).to_string(), 0)?;
    let open = |stage: &mut Stage, index: usize| {
        let block = block(answer, index, "", &json!({}));
        let open = json!({"type": "content_block_start", "index": index, "content_block": block}).to_string();
        stage.follow(Some("content_block_start"), &open, 0)
    };
    let close = |stage: &mut Stage, index: usize| {
        let close = json!({"type": "content_block_stop", "index": index}).to_string();
        stage.follow(Some("content_block_stop"), &close, 0)
    };
    open(&mut stage, 0)?;
    stage.follow(Some("ping"), r#"{"type":"ping"}"#, 0)?;
    let of_a_call = answer.pieces_of_a_call(pieces.len());
    let mut at = 0;
    for (number, piece) in pieces.iter().enumerate() {
        if answer.arguments.is_some() && number / of_a_call > at {
            close(&mut stage, at)?;
            at += 1;
            open(&mut stage, at)?;
        }
        let delta = match answer.arguments {
            None => json!({"type": "text_delta", "text": piece.text}),
            Some(_) => json!({"type": "input_json_delta", "partial_json": piece.text}),
        };
        let event = json!({"type": "content_block_delta", "index": at, "delta": delta}).to_string();
        if !stage.content(Some("content_block_delta"), &event, piece.tokens)? {
            break;
        }
    }
    close(&mut stage, at)?;
    let mut end = json!({
        "type": "message_delta", "delta": {"stop_reason": stop_reason(answer.finish), "stop_sequence": null},
    });
    if let Some(usage) = answer.report.value(usage) {
        end["usage"] = usage;
    }
    stage.follow(Some("message_delta"), &end.to_string(), 0)?;
    stage.last(Some("message_stop"), r#"{"type":"message_stop"}"#)?;
    let error = error_body(Dialect::Anthropic, 529, "the simulated provider broke off").to_string();
    stage.error(&[(Some("error"), &error)])?;
    stage.finish()
}
