//! A usage in either convention. OpenAI's cached tokens are part of the prompt, Anthropic's come on top.

use domain::usage::Usage;
use serde_json::{Value, json};

/// As a chat completion reports it.
#[must_use]
pub fn of_chat(usage: &Usage) -> Value {
    let mut prompt = json!({"cached_tokens": usage.cached_input, "audio_tokens": usage.audio_input});
    let written = usage.cache_write_5m.saturating_add(usage.cache_write_1h);
    if written > 0 {
        prompt["cache_write_tokens"] = written.into();
    }
    json!({
        "prompt_tokens": usage.prompt_tokens(), "completion_tokens": usage.completion_tokens(),
        "total_tokens": usage.total_tokens(), "prompt_tokens_details": prompt,
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning, "audio_tokens": usage.audio_output},
    })
}

/// As a message reports it.
#[must_use]
pub fn of_message(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.input.saturating_add(usage.audio_input),
        "cache_read_input_tokens": usage.cached_input,
        "cache_creation_input_tokens": usage.cache_write_5m.saturating_add(usage.cache_write_1h),
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_write_5m, "ephemeral_1h_input_tokens": usage.cache_write_1h,
        },
        "output_tokens": usage.completion_tokens(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::usage::{from_anthropic, from_openai};

    #[test]
    fn what_is_written_is_read_as_the_same_counts() {
        let base = Usage { cached_input: 300, cache_write_5m: 20, ..Usage::of_tokens(100, 7) };
        assert_eq!(of_chat(&base)["prompt_tokens"], 420);
        assert_eq!(of_message(&base)["input_tokens"], 100);
        let chats = Usage { reasoning: 5, audio_input: 2, audio_output: 1, ..base };
        assert_eq!(from_openai(&of_chat(&chats)), Some(chats));
        let messages = Usage { cache_write_1h: 9, ..base };
        assert_eq!(from_anthropic(&of_message(&messages)), Some(messages));
        assert_eq!(from_openai(&of_chat(&Usage::of_tokens(0, 0))), Some(Usage::of_tokens(0, 0)));
    }
}
