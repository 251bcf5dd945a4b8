//! Anthropic Messages.

pub mod ending;
pub mod request;
pub mod stream;
