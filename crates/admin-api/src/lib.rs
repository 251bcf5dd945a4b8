//! The admin API and the console's server.
//!
//! [`router`] is the table of contents: every operation and who may call it. An operation is one file,
//! `<noun>/<verb>.rs`; its handler takes [`auth::Call`], which has authorised the caller and opened the transaction.
//! It deliberately does not know how quota is kept in Redis (that is `quota`) and holds no SQL (that is `store`).
//!
//! To add an operation: its types in `api-types`, a file with the handler and its `utoipa::path`, a line in the router,
//! a row in `tests/it/matrix.rs`.

mod alerts;
pub mod app;
mod audit;
pub mod auth;
pub mod body;
pub mod call;
pub mod config;
pub mod console;
pub mod error;
mod events;
mod export;
mod force;
mod grants;
mod health;
mod invitations;
mod keys;
mod limits;
mod list;
mod live;
mod me;
mod models;
mod numbers;
mod once;
pub mod openapi;
mod password_resets;
mod path;
mod platform;
mod playground;
mod pools;
mod precondition;
mod price_matrix;
mod price_simulations;
mod prices;
pub mod problem;
mod projects;
mod quota_changes;
mod reconciliations;
mod reply;
mod requests;
pub mod router;
mod scopes;
pub mod server;
mod service_tokens;
mod session;
mod setup;
mod start;
mod statements;
mod targets;
mod tenants;
mod upstreams;
mod usage;
mod users;
mod validate;
mod webhooks;

pub use start::{connect, run};
