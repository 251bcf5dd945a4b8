//! Private PostgreSQL: a [`Server`], and with feature `async` a fresh migrated [`Database`] on one.

#[cfg(feature = "async")]
mod database;
mod server;

#[cfg(feature = "async")]
pub use database::Database;
pub use server::{Options, Server, programs};
