//! The ledger's protocol on a real Redis and a real Postgres, with the reconciler's passes in between.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests fail by panicking and print their counts"
)]

mod beyond;
mod changes;
mod compare;
mod deliver;
mod destinations;
mod lapse;
mod learn;
mod life;
mod limits;
mod mail;
mod model;
mod model_grants;
mod model_truth;
mod model_verbs;
mod outage;
mod pools;
mod race;
mod receiver;
mod renewals;
mod retention;
mod steps;
mod sweep;
mod thresholds;
mod told;
mod world;
