//! OpenAI Chat Completions.

pub mod ending;
pub mod prompt;
pub mod reply;
pub mod request;
pub mod stream;
