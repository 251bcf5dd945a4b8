//! Passwords that were forgotten, by the token of a mail's link.

pub mod complete;
pub mod create;
