//! Private PostgreSQL: a [`Server`], and a fresh migrated [`Database`] on one.

mod database;
mod server;

pub use database::Database;
pub use server::{Options, Server, programs};
