//! The four routes that answer with text, each in its provider's shape.

pub(crate) mod chat;
pub(crate) mod completions;
pub(crate) mod messages;
pub(crate) mod responses;

use serde_json::{Value, json};

use crate::{answer::Counts, ask::Dialect};

/// Usage as chat completions and completions report it.
pub(crate) fn openai_usage(counts: &Counts) -> Value {
    json!({
        "prompt_tokens": counts.prompt,
        "completion_tokens": counts.output,
        "total_tokens": counts.prompt.saturating_add(counts.output),
        "prompt_tokens_details": {"cached_tokens": counts.cached, "audio_tokens": counts.audio_in},
        "completion_tokens_details": {
            "reasoning_tokens": counts.reasoning, "audio_tokens": counts.audio_out,
            "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0,
        },
    })
}

/// An error body.
pub(crate) fn error_body(dialect: Dialect, status: u16, message: &str) -> Value {
    match dialect {
        Dialect::OpenAi => {
            let (kind, code) = match status {
                401 => ("invalid_request_error", json!("invalid_api_key")),
                402 => ("insufficient_quota", json!("insufficient_quota")),
                403 => ("permission_error", Value::Null),
                404 => ("invalid_request_error", json!("model_not_found")),
                429 => ("requests", json!("rate_limit_exceeded")),
                500..600 => ("server_error", Value::Null),
                _ => ("invalid_request_error", Value::Null),
            };
            json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
        }
        Dialect::Anthropic => {
            let kind = match status {
                401 => "authentication_error",
                402 => "billing_error",
                403 => "permission_error",
                404 => "not_found_error",
                413 => "request_too_large",
                429 => "rate_limit_error",
                504 => "timeout_error",
                529 => "overloaded_error",
                500..600 => "api_error",
                _ => "invalid_request_error",
            };
            json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_sim"})
        }
    }
}
