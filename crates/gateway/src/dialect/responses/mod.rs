//! OpenAI Responses.

pub mod request;
pub mod stream;
