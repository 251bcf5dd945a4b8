//! Why an answer ended, in either dialect.

/// `finish_reason` of a message's `stop_reason`.
#[must_use]
pub fn of_chat(stop_reason: &str) -> &'static str {
    match stop_reason {
        "max_tokens" | "model_context_window_exceeded" => "length",
        "tool_use" => "tool_calls",
        "refusal" => "content_filter",
        _ => "stop",
    }
}

/// `stop_reason` of a chat's `finish_reason`. Some servers say `stop` where a tool was called.
#[must_use]
pub fn of_message(finish_reason: &str, has_tools: bool) -> &'static str {
    match finish_reason {
        "length" => "max_tokens",
        "content_filter" => "refusal",
        "tool_calls" | "function_call" => "tool_use",
        _ if has_tools => "tool_use",
        _ => "end_turn",
    }
}
