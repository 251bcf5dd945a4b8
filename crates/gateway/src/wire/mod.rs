//! The bytes: events, JSON and forms edited in place, headers. Knows no quota and no HTTP client.

pub mod edit;
pub mod form;
pub mod sse;
