//! The quota ledger in Redis: the only crate that names `redis`.
//!
//! Redis holds a versioned copy of Postgres' totals plus the live freezes, and, beside the money, what rates and in-flight
//! limits count. Each verb is one script in
//! `lua/` with one twin here: typed arguments in, a closed set of outcomes out. A refusal is an outcome, not an error; an
//! unknown code is an error. It deliberately does not know Postgres, prices or HTTP: `quota` joins this crate with the store.
//!
//! To add a verb: a script with its header, a module here, a line in `scripts.rs`, tests in `tests/it/`.

mod args;
mod batch;
mod breaker;
mod client;
mod confirm;
mod error;
mod evict;
mod extend;
mod freeze;
mod install;
mod keys;
mod lower;
mod open;
mod read;
mod reply;
mod scripts;
mod sweep;

pub use breaker::{Breaker, BreakerConfig};
pub use client::{Config, Ledger};
pub use confirm::Delete;
pub use error::LedgerError;
pub use evict::Evicted;
pub use extend::{ExtendCall, ExtendOutcome};
pub use freeze::{FreezeCall, FreezeOutcome, Load, Refused, Ticket};
pub use install::Installed;
pub use lower::{LowerCall, LowerOutcome};
pub use open::OpenOutcome;
pub use read::{AccountState, Held};
pub use sweep::Found;

/// A window id: unique for each generation of a shard.
pub type WindowId = String;
