//! Postgres: the truth. The only crate that names `sqlx`.
//!
//! One module per noun, plain async functions over a connection, so that callers decide what commits together.
//! It deliberately does not know Redis: `quota` is the one place where both meet.
//!
//! To add a noun: a migration, a module here, `./dev prepare` for the checked queries.

pub mod accounts;
mod allocate;
pub mod beats;
pub mod error;
pub mod migrate;
pub mod pool;

pub mod grants;
pub mod load;
pub mod record;
pub mod upkeep;
mod usage_records;

pub use error::Error;
pub use pool::{Config, Store};
pub use sqlx::PgConnection;
