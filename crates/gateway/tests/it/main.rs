//! The gateway as a black box: real Redis and Postgres, a simulated provider that keeps its own books.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod audio;
mod beyond;
mod charges;
mod crowd;
mod drain;
mod estimates;
mod failover;
mod guard;
mod house;
mod keys;
mod limits;
mod media;
mod once;
mod outage;
mod plain;
mod postgres_away;
mod quota;
mod routes;
mod soft_budget;
mod sse;
mod streams;
mod tls;
mod translate;
mod translated;
mod upstream_faults;
mod wire;
