//! Bodies that more than one test sends.

use serde_json::{Value, json};

pub fn model(name: &str) -> Value {
    json!({"name": name, "mode": "chat", "tokenizer": "o200k_base", "context_window": 128_000, "max_output_tokens": 4096})
}

pub fn upstream(name: &str) -> Value {
    json!({"name": name, "kind": "openai", "base_url": "https://api.example.com/v1", "api_key": "sk-test-0123456789abcdef"})
}

pub fn pool(name: &str) -> Value {
    json!({"name": name, "unit": "credit", "budget": {"amount": "10", "period": "month"}})
}
