//! OpenAI `POST /v1/chat/completions` served by targets that speak Anthropic's messages.

mod conversation;
pub mod reply;
pub mod request;
pub mod stream;
mod tools;
