//! The first administrator.

pub mod create;
pub mod password;
pub mod read;
