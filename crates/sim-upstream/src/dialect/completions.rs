//! `POST /v1/completions`.

use serde_json::{Value, json};

use super::{error_body, openai_usage};
use crate::{
    answer::{Answer, Finish},
    ask::{self, Ask, Dialect, Refusal},
    reel::Reel,
    stage::Stage,
};

pub(crate) fn read(body: &Value) -> Result<Ask, Refusal> {
    let mut ask = Ask::of(body)?;
    let (texts, prompt) = ask::inputs(body.get("prompt"), "prompt", ask.vocabulary())?;
    // Each prompt of a list has its own `n` choices.
    ask.n = ask.n.saturating_mul(u32::try_from(texts.len()).unwrap_or(u32::MAX));
    ask.text = texts.into_iter().next_back().unwrap_or_default();
    ask.prompt = prompt;
    ask.max_out = ask::number(body, "max_tokens")?;
    Ok(ask)
}

fn finish(finish: Finish) -> &'static str {
    if finish == Finish::Length { "length" } else { "stop" }
}

fn body(answer: &Answer<'_>, choices: &[Value]) -> Value {
    json!({
        "id": format!("cmpl-sim{:08}", answer.id), "object": "text_completion", "created": answer.created,
        "model": answer.ask.model, "system_fingerprint": "fp_sim", "choices": choices,
    })
}

fn choice(index: u32, text: &str, finish: Option<&str>) -> Value {
    json!({"index": index, "text": text, "logprobs": null, "finish_reason": finish})
}

pub(crate) fn whole(answer: &Answer<'_>) -> Value {
    let count = if answer.script.faults.no_choices { 0 } else { answer.ask.n };
    let text = answer.text();
    let choices: Vec<_> = (0..count).map(|index| choice(index, &text, Some(finish(answer.finish)))).collect();
    let mut body = body(answer, &choices);
    if let Some(usage) = answer.report.value(openai_usage) {
        body["usage"] = usage;
    }
    body
}

pub(crate) fn stream(answer: &Answer<'_>) -> Result<Reel, Refusal> {
    let pieces = answer.pieces();
    let mut stage = Stage::new(answer.script, pieces.len());
    let choices = if answer.script.faults.no_choices { 0 } else { answer.ask.n };
    'pieces: for piece in &pieces {
        for index in 0..choices {
            let chunk = body(answer, &[choice(index, &piece.text, None)]).to_string();
            if index > 0 {
                stage.follow(None, &chunk, piece.tokens)?;
            } else if !stage.content(None, &chunk, piece.tokens)? {
                break 'pieces;
            }
        }
    }
    for index in 0..choices {
        stage.follow(None, &body(answer, &[choice(index, "", Some(finish(answer.finish)))]).to_string(), 0)?;
    }
    if let (true, Some(usage)) = (answer.ask.include_usage, answer.report.value(openai_usage)) {
        let mut chunk = body(answer, &[]);
        chunk["usage"] = usage;
        stage.follow(None, &chunk.to_string(), 0)?;
    }
    if !answer.script.sse.no_done {
        stage.last(None, "[DONE]")?;
    }
    let error = error_body(Dialect::OpenAi, 500, "the simulated provider broke off").to_string();
    stage.error(&[(None, &error), (None, "[DONE]")])?;
    stage.finish()
}
