//! Postgres: the truth. The only crate that names `sqlx`.
//!
//! One module per noun, plain async functions over a connection, so that callers decide what commits together.
//! It deliberately does not know Redis: `quota` is the one place where both meet.
//!
//! To add a noun: a migration, a module here, `./dev prepare` for the checked queries.

pub mod accounts;
pub mod alerts;
mod allocate;
pub mod audit;
pub mod beats;
pub mod catalog;
pub mod changes;
pub mod comparisons;
pub mod error;
pub mod grants;
pub mod hours;
pub mod idempotency;
pub mod idempotent_calls;
pub mod ingest;
mod instant;
pub mod key_context;
pub mod keys;
pub mod load;
pub mod mail_deliveries;
pub mod mailed_tokens;
pub mod migrate;
pub mod models;
pub mod opened;
pub mod outbox;
pub mod password;
pub mod plans;
pub mod platform;
pub mod pool;
pub mod pools;
pub mod prices;
pub mod projects;
pub mod quota_changes;
pub mod reach;
pub mod record;
pub mod refunds;
pub mod reports;
pub mod requests;
pub mod rewrap;
pub mod scopes;
pub mod seal;
pub mod service_tokens;
pub mod sessions;
pub mod setup;
pub mod simulations;
pub mod snapshots;
pub mod statements;
pub mod sums;
pub mod targets;
pub mod tenants;
mod thresholds;
pub mod totp;
pub mod upkeep;
pub mod upstreams;
pub mod usage;
mod usage_records;
pub mod users;
pub mod verify;
pub mod webhook_deliveries;
pub mod webhooks;

pub use error::Error;
pub use pool::{Config, Lent, Store, begin};
pub use reach::{Reach, Window};
pub use sqlx::PgConnection;

/// A transaction; dropped without `commit` it rolls back.
pub type Transaction = sqlx::Transaction<'static, sqlx::Postgres>;
