//! The handlers, thin: read, hand over, answer.

pub mod count_tokens;
pub mod health;
pub mod models;
pub mod paid;
pub mod quota;
