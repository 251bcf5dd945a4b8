//! The handlers, thin: read, hand over, answer.

pub mod chat_completions;
pub mod health;
pub mod models;
pub mod quota;
