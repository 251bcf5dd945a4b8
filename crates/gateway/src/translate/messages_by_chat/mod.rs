//! Anthropic `POST /v1/messages` served by targets that speak OpenAI's chat completions.

mod conversation;
pub mod reply;
pub mod request;
pub mod stream;
mod tools;
