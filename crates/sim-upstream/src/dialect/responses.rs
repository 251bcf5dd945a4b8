//! `POST /v1/responses`.

use serde_json::{Value, json};

use crate::{
    answer::{Answer, Counts, Finish},
    ask::{self, Ask, Refusal},
    reel::Reel,
    stage::Stage,
};

pub(crate) fn read(body: &Value) -> Result<Ask, Refusal> {
    let mut ask = Ask::of(body)?;
    let vocabulary = ask.vocabulary();
    let instructions = vocabulary.count(ask::text(body, "instructions"));
    match body.get("input") {
        Some(Value::String(text)) => {
            ask.prompt = 7 + vocabulary.count(text);
            ask.text.clone_from(text);
        }
        Some(Value::Array(items)) if !items.is_empty() => {
            ask.prompt = ask::messages_tokens(items, vocabulary);
            ask.text = ask::last_user_text(items);
        }
        _ => return Err(Refusal::bad("missing required parameter: 'input' (a string or an array of items)")),
    }
    ask.prompt += instructions + ask::tools_tokens(body, vocabulary);
    ask.max_out = ask::number(body, "max_output_tokens")?;
    ask.n = 1;
    ask.tools = ask::tool_names(body, "/name");
    ask.tools.truncate(1);
    Ok(ask)
}

pub(crate) fn usage(counts: &Counts) -> Value {
    json!({
        "input_tokens": counts.prompt,
        "input_tokens_details": {"cached_tokens": counts.cached},
        "output_tokens": counts.output,
        "output_tokens_details": {"reasoning_tokens": counts.reasoning},
        "total_tokens": counts.prompt.saturating_add(counts.output),
    })
}

fn item_id(answer: &Answer<'_>) -> String {
    let kind = if answer.arguments.is_some() { "fc" } else { "msg" };
    format!("{kind}_sim{:08}", answer.id)
}

/// The only item of the output, so far or done.
fn item(answer: &Answer<'_>, text: Option<&str>) -> Value {
    let status = match (text, answer.finish) {
        (None, _) => "in_progress",
        (_, Finish::Length) => "incomplete",
        _ => "completed",
    };
    match (&answer.arguments, answer.calls.first()) {
        (Some(_), Some(tool)) => json!({
            "type": "function_call", "id": item_id(answer), "call_id": format!("call_sim{}", answer.id), "name": tool,
            "arguments": text.unwrap_or_default(), "status": status,
        }),
        _ => {
            let content = text.map(part).into_iter().collect::<Vec<_>>();
            json!({"type": "message", "id": item_id(answer), "role": "assistant", "status": status, "content": content})
        }
    }
}

fn part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
}

fn response(answer: &Answer<'_>, status: &str, output: &Value, usage: Option<Value>) -> Value {
    let details = if status == "incomplete" { json!({"reason": "max_output_tokens"}) } else { Value::Null };
    let mut body = json!({
        "id": format!("resp_sim{:08}", answer.id), "object": "response", "created_at": answer.created, "status": status,
        "error": null, "incomplete_details": details, "instructions": null, "metadata": {}, "model": answer.ask.model,
        "output": output, "parallel_tool_calls": true, "temperature": 1.0, "tool_choice": "auto", "tools": [],
        "top_p": 1.0, "max_output_tokens": answer.ask.max_out, "previous_response_id": null, "service_tier": "default",
        "text": {"format": {"type": "text"}}, "truncation": "disabled",
    });
    if let Some(usage) = usage {
        body["usage"] = usage;
    }
    body
}

fn status(finish: Finish) -> &'static str {
    if finish == Finish::Length { "incomplete" } else { "completed" }
}

fn output(answer: &Answer<'_>) -> Value {
    if answer.script.faults.no_choices { json!([]) } else { json!([item(answer, Some(&answer.text()))]) }
}

pub(crate) fn whole(answer: &Answer<'_>) -> Value {
    response(answer, status(answer.finish), &output(answer), answer.report.value(usage))
}

/// Writes events, each named by its `type` and numbered.
struct Events {
    stage: Stage,
    number: u32,
}

impl Events {
    fn number(&mut self, mut event: Value) -> String {
        event["sequence_number"] = self.number.into();
        self.number += 1;
        event.to_string()
    }

    fn follow(&mut self, name: &str, mut event: Value) -> Result<(), Refusal> {
        event["type"] = name.into();
        let data = self.number(event);
        self.stage.follow(Some(name), &data, 0)
    }
}

pub(crate) fn stream(answer: &Answer<'_>) -> Result<Reel, Refusal> {
    let pieces = answer.pieces();
    let mut events = Events { stage: Stage::new(answer.script, pieces.len()), number: 0 };
    let begun = response(answer, "in_progress", &json!([]), Some(Value::Null));
    events.follow("response.created", json!({"response": begun}))?;
    events.follow("response.in_progress", json!({"response": begun}))?;
    events.follow("response.output_item.added", json!({"output_index": 0, "item": item(answer, None)}))?;
    let place = json!({"item_id": item_id(answer), "output_index": 0, "content_index": 0});
    let at = |name: &str, value: Value| {
        let mut event = place.clone();
        event[name] = value;
        event
    };
    let (delta, done, field) = match answer.arguments {
        None => ("response.output_text.delta", "response.output_text.done", "text"),
        Some(_) => ("response.function_call_arguments.delta", "response.function_call_arguments.done", "arguments"),
    };
    if answer.arguments.is_none() {
        events.follow("response.content_part.added", at("part", part("")))?;
    }
    for piece in &pieces {
        let mut event = at("delta", piece.text.as_str().into());
        event["type"] = delta.into();
        event["logprobs"] = json!([]);
        let data = events.number(event);
        if !events.stage.content(Some(delta), &data, piece.tokens)? {
            break;
        }
    }
    let text = answer.text();
    let mut whole = at(field, text.as_str().into());
    whole["logprobs"] = json!([]);
    events.follow(done, whole)?;
    if answer.arguments.is_none() {
        events.follow("response.content_part.done", at("part", part(&text)))?;
    }
    events.follow("response.output_item.done", json!({"output_index": 0, "item": item(answer, Some(&text))}))?;
    let name = format!("response.{}", status(answer.finish));
    let end = response(answer, status(answer.finish), &output(answer), answer.report.value(usage));
    let data = events.number(json!({"type": name, "response": end}));
    events.stage.last(Some(&name), &data)?;
    let mut failed = response(answer, "failed", &json!([]), Some(Value::Null));
    failed["error"] = json!({"code": "server_error", "message": "the simulated provider broke off"});
    let data = events.number(json!({"type": "response.failed", "response": failed}));
    events.stage.error(&[(Some("response.failed"), &data)])?;
    events.stage.finish()
}
