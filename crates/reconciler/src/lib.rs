//! What has to happen without a request: phantom freezes and traces of dead gateways healed, windows of idle shards opened, changed totals pushed,
//! what the clock made due applied, accounts compared, partitions made ahead of time, events told by webhook and mail.
//!
//! It deliberately repairs Redis from Postgres, never the reverse. Several may run; an advisory lock keeps one at work.
//!
//! To add scheduled work: a module with one pass as a function, a line in `run.rs`.

pub mod announce;
pub mod changes;
pub mod compare;
pub mod config;
pub mod deliver;
pub mod due;
pub mod moves;
pub mod opened;
pub mod push;
pub mod retention;
pub mod run;
pub mod sweep;
pub mod windows;

pub use config::Config;
