//! The admin API as a black box: HTTP over a real Postgres and a real Redis. Permission failures first.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod alerts;
mod audit;
mod bodies;
mod books;
mod catalog;
mod fields;
mod idempotency;
mod invitations;
mod limits;
mod lists;
mod live;
mod matrix;
mod people;
mod platform;
mod playground;
mod pools;
mod price_matrix;
mod price_simulations;
mod process;
mod projects;
mod quota_changes;
mod rotation;
mod row_security;
mod samples;
mod second_factor;
mod spend;
mod statements;
mod tenants;
mod usage;
mod webhooks;
mod world;
