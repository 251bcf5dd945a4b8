//! `POST /v1/chat/completions`.

use serde_json::{Value, json};

use super::{error_body, openai_usage};
use crate::{
    answer::{Answer, Counts, Finish, Report},
    ask::{self, Ask, Dialect, Refusal},
    reel::Reel,
    stage::Stage,
};

pub(crate) fn read(body: &Value) -> Result<Ask, Refusal> {
    let mut ask = Ask::of(body)?;
    let messages = ask::messages(body)?;
    let vocabulary = ask.vocabulary();
    ask.text = ask::last_user_text(messages);
    ask.prompt = ask::messages_tokens(messages, vocabulary) + ask::tools_tokens(body, vocabulary);
    ask.max_out = ask::number(body, "max_completion_tokens")?.or(ask::number(body, "max_tokens")?);
    ask.tools = ask::tool_names(body, "/function/name");
    Ok(ask)
}

fn finish(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "stop",
        Finish::Length => "length",
        Finish::Tool => "tool_calls",
    }
}

fn id(answer: &Answer<'_>) -> String {
    format!("chatcmpl-sim{:08}", answer.id)
}

pub(crate) fn whole(answer: &Answer<'_>) -> Value {
    let message = match &answer.arguments {
        Some(arguments) => {
            let call = |(index, tool): (usize, &String)| {
                json!({"id": format!("call_sim{}", answer.call_id(index)), "type": "function",
                    "function": {"name": tool, "arguments": arguments}})
            };
            let calls: Vec<_> = answer.calls.iter().enumerate().map(call).collect();
            json!({"role": "assistant", "content": null, "refusal": null, "tool_calls": calls})
        }
        None => json!({"role": "assistant", "content": answer.text(), "refusal": null, "annotations": []}),
    };
    let count = if answer.script.faults.no_choices { 0 } else { answer.ask.n };
    let choices: Vec<_> = (0..count)
        .map(|index| json!({"index": index, "message": message, "logprobs": null, "finish_reason": finish(answer.finish)}))
        .collect();
    let mut body = json!({
        "id": id(answer), "object": "chat.completion", "created": answer.created, "model": answer.ask.model,
        "choices": choices, "service_tier": "default", "system_fingerprint": "fp_sim",
    });
    if let Some(usage) = answer.report.value(openai_usage) {
        body["usage"] = usage;
    }
    body
}

/// Writes chunks around what all of them have in common.
struct Chunks {
    head: String,
    null_usage: &'static str,
}

impl Chunks {
    fn new(answer: &Answer<'_>) -> Self {
        Self {
            head: format!(
                r#"{{"id":"{}","object":"chat.completion.chunk","created":{},"model":{},"service_tier":"default","system_fingerprint":"fp_sim","choices":["#,
                id(answer),
                answer.created,
                Value::from(answer.ask.model.as_str()),
            ),
            null_usage: if answer.ask.include_usage { r#","usage":null"# } else { "" },
        }
    }

    fn choice(&self, index: u32, delta: &str, finish: Option<&str>, usage: Option<&Value>) -> String {
        let finish = finish.map_or("null".to_owned(), |finish| format!(r#""{finish}""#));
        let usage = usage.map_or(self.null_usage.to_owned(), |usage| format!(r#","usage":{usage}"#));
        let head = &self.head;
        format!(r#"{head}{{"index":{index},"delta":{delta},"logprobs":null,"finish_reason":{finish}}}]{usage}}}"#)
    }

    fn usage(&self, usage: &Value) -> String {
        format!(r#"{}],"usage":{usage}}}"#, self.head)
    }
}

/// Usage after so many output tokens, for providers that send it with every chunk.
fn so_far(answer: &Answer<'_>, output: u32) -> Option<Value> {
    match answer.report {
        Report::Counts(counts) if answer.script.sse.cumulative => Some(openai_usage(&Counts { output, ..counts })),
        _ => None,
    }
}

fn opening(answer: &Answer<'_>) -> String {
    if answer.calls.is_empty() {
        return r#"{"role":"assistant","content":"","refusal":null}"#.to_owned();
    }
    let mut delta = call(answer, 0);
    delta["role"] = "assistant".into();
    delta["content"] = Value::Null;
    delta.to_string()
}

/// The delta with which a call begins.
fn call(answer: &Answer<'_>, index: usize) -> Value {
    json!({"tool_calls": [{"index": index, "id": format!("call_sim{}", answer.call_id(index)), "type": "function",
        "function": {"name": answer.calls[index], "arguments": ""}}]})
}

pub(crate) fn stream(answer: &Answer<'_>) -> Result<Reel, Refusal> {
    let pieces = answer.pieces();
    let mut stage = Stage::new(answer.script, pieces.len());
    let chunks = Chunks::new(answer);
    let choices = if answer.script.faults.no_choices { 0 } else { answer.ask.n };
    let opening = opening(answer);
    for index in 0..choices {
        stage.follow(None, &chunks.choice(index, &opening, None, None), 0)?;
    }
    let mut output = 0;
    let of_a_call = answer.pieces_of_a_call(pieces.len());
    'pieces: for (number, piece) in pieces.iter().enumerate() {
        let text = Value::from(piece.text.as_str());
        let at = number / of_a_call;
        if answer.arguments.is_some() && number > 0 && number % of_a_call == 0 {
            let begun = call(answer, at).to_string();
            for index in 0..choices {
                stage.follow(None, &chunks.choice(index, &begun, None, None), 0)?;
            }
        }
        let delta = match &answer.arguments {
            None => format!(r#"{{"content":{text}}}"#),
            Some(_) => format!(r#"{{"tool_calls":[{{"index":{at},"function":{{"arguments":{text}}}}}]}}"#),
        };
        for index in 0..choices {
            output += piece.tokens;
            let chunk = chunks.choice(index, &delta, None, so_far(answer, output).as_ref());
            if index > 0 {
                stage.follow(None, &chunk, piece.tokens)?;
            } else if !stage.content(None, &chunk, piece.tokens)? {
                break 'pieces;
            }
        }
    }
    for index in 0..choices {
        let usage = so_far(answer, answer.counts.output);
        stage.follow(None, &chunks.choice(index, "{}", Some(finish(answer.finish)), usage.as_ref()), 0)?;
    }
    if let (true, Some(usage)) =
        (answer.ask.include_usage && !answer.script.sse.cumulative, answer.report.value(openai_usage))
    {
        stage.follow(None, &chunks.usage(&usage), 0)?;
    }
    if !answer.script.sse.no_done {
        stage.last(None, "[DONE]")?;
    }
    let error = error_body(Dialect::OpenAi, 500, "the simulated provider broke off").to_string();
    stage.error(&[(None, &error), (None, "[DONE]")])?;
    stage.finish()
}
