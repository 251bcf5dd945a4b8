//! The bytes: events, JSON edited in place, headers. Knows no quota and no HTTP client.

pub mod edit;
pub mod sse;
