//! The gateway as a black box: real Redis and Postgres, a simulated provider that keeps its own books.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod beyond;
mod charges;
mod crowd;
mod failover;
mod guard;
mod house;
mod keys;
mod limits;
mod once;
mod outage;
mod plain;
mod postgres_away;
mod quota;
mod routes;
mod sse;
mod streams;
mod tls;
mod upstream_faults;
mod wire;
