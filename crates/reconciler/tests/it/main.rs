//! The ledger's protocol on a real Redis and a real Postgres, with the reconciler's passes in between.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests fail by panicking and print their counts"
)]

mod deliver;
mod destinations;
mod life;
mod mail;
mod model;
mod race;
mod receiver;
mod steps;
mod sweep;
mod world;
