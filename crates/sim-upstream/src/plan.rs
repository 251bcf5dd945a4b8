//! From a request's bytes to all that will be sent: pure, so that it may run on any thread.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::{
    answer::Answer,
    ask::{Ask, Dialect, Refusal},
    audio,
    dialect::{chat, completions, error_body, messages, openai_usage, responses},
    others::{self, Made},
    reel::{self, Reel},
    script::{Break, Instead, Packing, Script},
    stage::pad,
};

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream; charset=utf-8";

/// A route that answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    Chat,
    Completions,
    Responses,
    Embeddings,
    Images,
    Speech,
    Transcriptions,
    Rerank,
    Messages,
    CountTokens,
}

impl Route {
    /// The route of a path.
    pub(crate) fn of(path: &str) -> Option<Self> {
        Some(match path {
            "/v1/chat/completions" => Self::Chat,
            "/v1/completions" => Self::Completions,
            "/v1/responses" => Self::Responses,
            "/v1/embeddings" => Self::Embeddings,
            "/v1/images/generations" => Self::Images,
            "/v1/audio/speech" => Self::Speech,
            "/v1/audio/transcriptions" => Self::Transcriptions,
            "/v1/rerank" => Self::Rerank,
            "/v1/messages" => Self::Messages,
            "/v1/messages/count_tokens" => Self::CountTokens,
            _ => return None,
        })
    }

    pub(crate) fn dialect(self) -> Dialect {
        match self {
            Self::Messages | Self::CountTokens => Dialect::Anthropic,
            _ => Dialect::OpenAi,
        }
    }

    fn read(self, content_type: &str, body: &Bytes) -> Result<Ask, Refusal> {
        if self == Self::Transcriptions {
            return audio::read_transcription(content_type, body);
        }
        let body: Value = serde_json::from_slice(body)
            .map_err(|error| Refusal::bad(format!("we could not parse the JSON body of your request: {error}")))?;
        match self {
            Self::Chat => chat::read(&body),
            Self::Completions => completions::read(&body),
            Self::Responses => responses::read(&body),
            Self::Embeddings => others::read_embeddings(&body),
            Self::Images => others::read_image(&body),
            Self::Speech => audio::read_speech(&body),
            Self::Rerank => others::read_rerank(&body),
            Self::Messages => messages::read(&body, true),
            Self::CountTokens | Self::Transcriptions => messages::read(&body, false),
        }
    }
}

/// All that will be sent.
pub(crate) struct Plan {
    pub ask: Ask,
    pub status: u16,
    pub content_type: &'static str,
    pub packing: Packing,
    pub reel: Reel,
    /// Pause before the response's head.
    pub first: Duration,
    /// Pause between content pieces.
    pub delay: Duration,
    pub retry_after: Option<u32>,
    /// The usage that the answer's bytes hold.
    pub usage: Option<Value>,
    pub prompt: u32,
    /// The length the head shall claim, where it is not the body's.
    pub claimed_length: Option<usize>,
    /// Whether the body has a length at all.
    pub has_length: bool,
    pub stale: bool,
}

impl Plan {
    fn new(ask: Ask, script: &Script, reel: Reel) -> Self {
        Self {
            prompt: script.prompt.unwrap_or(ask.prompt),
            ask,
            status: 200,
            content_type: JSON,
            packing: script.faults.packing,
            reel,
            first: script.first,
            delay: script.delay,
            retry_after: None,
            usage: None,
            claimed_length: None,
            has_length: true,
            stale: script.faults.stale,
        }
    }

    /// The answer to a request that can't be answered.
    pub(crate) fn refusal(dialect: Dialect, refusal: &Refusal) -> Self {
        let body = error_body(dialect, refusal.status, &refusal.message).to_string();
        let mut plan = Self::new(Ask::default(), &Script::default(), Reel::whole(body, 0));
        plan.status = refusal.status;
        plan
    }
}

/// Plans the answer to a request.
pub(crate) fn plan(route: Route, content_type: &str, body: &Bytes, id: u64, created: i64) -> Plan {
    made(route, content_type, body, id, created).unwrap_or_else(|refusal| Plan::refusal(route.dialect(), &refusal))
}

fn made(route: Route, content_type: &str, body: &Bytes, id: u64, created: i64) -> Result<Plan, Refusal> {
    let ask = route.read(content_type, body)?;
    let script = Script::find(&ask.text)?;
    if let Some(instead) = script.faults.instead {
        return replaced(route, ask, &script, instead);
    }
    if let Some(raw) = &script.raw {
        let reel = Reel::pieces(raw.clone(), script.cut);
        let content_type = if ask.stream { EVENTS } else { JSON };
        let mut plan = Plan::new(ask, &script, reel);
        (plan.content_type, plan.has_length) = (content_type, false);
        return Ok(plan);
    }
    let answer = Answer::new(&ask, &script, id, created);
    let usage = reported(route, &answer);
    let streamed = match (route, ask.stream) {
        (Route::Chat, true) => Some(chat::stream(&answer)?),
        (Route::Completions, true) => Some(completions::stream(&answer)?),
        (Route::Responses, true) => Some(responses::stream(&answer)?),
        (Route::Messages, true) => Some(messages::stream(&answer)?),
        (Route::Speech, true) => Some(audio::speech_events(&answer)?),
        (Route::Transcriptions, true) => Some(audio::transcription_events(&answer)?),
        _ => None,
    };
    if let Some(reel) = streamed {
        let mut plan = Plan::new(ask, &script, reel);
        plan.content_type = EVENTS;
        // A broken stream never gets to its usage, and two routes only send it to those who ask.
        let asked =
            plan.ask.include_usage || script.sse.cumulative || !matches!(route, Route::Chat | Route::Completions);
        plan.usage = usage.filter(|_| asked && script.faults.breaks.is_none());
        plan.has_length = false;
        return Ok(plan);
    }
    if route == Route::Speech {
        let reel = audio::speech(&answer)?;
        let content_type = audio::content_type(&ask.more.format);
        let mut plan = Plan::new(ask, &script, reel);
        plan.content_type = content_type;
        plan.has_length = false;
        return Ok(plan);
    }
    let sent = answer.sent();
    if route == Route::Transcriptions && matches!(ask.more.format.as_str(), "text" | "srt" | "vtt") {
        let text = answer.text();
        let mut plan = whole(ask, &script, &text, None, sent)?;
        plan.content_type = "text/plain; charset=utf-8";
        return Ok(plan);
    }
    let text = |body: Value| (body, usage.clone(), sent);
    let of = |made: Made| (made.body, made.report, made.tokens);
    let (body, usage, tokens) = match route {
        Route::Chat => text(chat::whole(&answer)),
        Route::Completions => text(completions::whole(&answer)),
        Route::Responses => text(responses::whole(&answer)),
        Route::Messages => text(messages::whole(&answer)),
        Route::Transcriptions | Route::Speech => text(audio::transcription(&answer)),
        Route::Embeddings => of(others::embeddings(&ask, &script)),
        Route::Images => of(others::images(&ask, &script, id, created)),
        Route::Rerank => of(others::rerank(&ask, &script, id)),
        Route::CountTokens => (messages::count_tokens(ask.prompt), None, 0),
    };
    whole(ask, &script, &body.to_string(), usage, tokens)
}

/// The usage in the shape in which the route reports it.
fn reported(route: Route, answer: &Answer<'_>) -> Option<Value> {
    match route {
        Route::Messages => answer.report.value(messages::usage),
        Route::Responses => answer.report.value(responses::usage),
        Route::Transcriptions => audio::transcription_usage(answer),
        Route::Speech => answer.report.value(audio::usage),
        _ => answer.report.value(openai_usage),
    }
}

/// A body that is sent in one piece, with its faults.
fn whole(ask: Ask, script: &Script, body: &str, usage: Option<Value>, tokens: u32) -> Result<Plan, Refusal> {
    let padded = (script.faults.huge > 0).then(|| pad(body, script.faults.huge));
    let bytes = reel::pack(script.faults.packing, padded.as_deref().unwrap_or(body).as_bytes())?;
    let len = bytes.len();
    let mut reel = Reel::whole(bytes, tokens);
    let mut claimed_length = None;
    if script.faults.short {
        claimed_length = Some(len + 100);
    }
    if let Some((kind, after)) = script.faults.breaks.filter(|(kind, _)| *kind != Break::Error) {
        reel = reel.break_off(kind, after);
        claimed_length = Some(len);
    }
    let mut plan = Plan::new(ask, script, reel);
    plan.first = script.first + script.delay;
    plan.usage = usage.filter(|_| script.faults.breaks.is_none());
    plan.claimed_length = claimed_length;
    Ok(plan)
}

/// An answer whose body is something else altogether.
fn replaced(route: Route, ask: Ask, script: &Script, instead: Instead) -> Result<Plan, Refusal> {
    let error =
        |status: u16| error_body(route.dialect(), status, &format!("the script asked for status {status}")).to_string();
    let html = "<html><head><title>502 Bad Gateway</title></head><body><h1>Bad Gateway</h1></body></html>";
    let streamed = ask.stream;
    let (status, content_type, body) = match instead {
        Instead::Status(status) => (status, JSON, Bytes::from(error(status))),
        Instead::Error200 => (200, JSON, Bytes::from(error(500))),
        Instead::Html(status) => (status, "text/html", Bytes::from(html)),
        Instead::Garbage => {
            (200, if streamed { EVENTS } else { JSON }, Bytes::from_static(b"{\"id\": \x00\xff\xfe]]} garbage <<"))
        }
        Instead::Empty => (200, if streamed { EVENTS } else { JSON }, Bytes::new()),
        Instead::Bomb(size) => {
            let zeros = json!({"id": "bomb", "padding": ""}).to_string();
            (200, JSON, reel::pack(Packing::Gzip, pad(&zeros, size).as_bytes())?)
        }
    };
    let packed = match instead {
        Instead::Bomb(_) => body,
        _ => reel::pack(script.faults.packing, &body)?,
    };
    let mut plan = Plan::new(ask, script, Reel::whole(packed, 0));
    if matches!(instead, Instead::Bomb(_)) {
        plan.packing = Packing::Gzip;
    }
    plan.status = status;
    plan.content_type = content_type;
    plan.first = script.first + script.delay;
    plan.retry_after = script.retry_after;
    Ok(plan)
}
