//! Anthropic Messages.

pub mod request;
pub mod stream;
