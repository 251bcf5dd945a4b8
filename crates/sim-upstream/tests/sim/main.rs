//! The simulated provider from outside, over real HTTP.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

mod books;
mod chat;
mod client;
mod faults;
mod messages;
mod others;
mod responses;
