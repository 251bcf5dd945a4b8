//! What tests stand on: private Redis and Postgres servers, a TCP proxy that injects faults, and our own binaries as
//! processes that can be killed. Everything listens on the loopback address and a free port, keeps its files in a
//! directory of its own, ends when its handle is dropped, and ends too when the test process is killed
//! ([`watchdog::Watchdog`]).
//!
//! Used as a dev-dependency only, and by `xtask`, whose development system is made of the same servers and processes.
//! It knows nothing of the product: no crate of the workspace is a dependency, so every one of them may use it.
//!
//! ```no_run
//! # async fn example() -> anyhow::Result<()> {
//! let redis = testkit::redis::Redis::start().await?;          // redis.url()
//! let database = testkit::postgres::Database::create().await?; // database.app_url(), database.owner_url()
//! # Ok(())
//! # }
//! # use tollgate_testkit as testkit;
//! ```
//!
//! Databases are made on the server that `TOLLGATE_TEST_POSTGRES_URL` names (a superuser's URL), else on a private
//! server started once per test process.

pub mod http;
pub mod ports;
pub mod postgres;
pub mod process;
pub mod proxy;
pub mod redis;
pub mod wait;
pub mod watchdog;
