//! The wire types of the admin API, declared once for the server and the console.
//!
//! Requests refuse unknown fields; replies tolerate them, so that an older console reads a newer server. Amounts are
//! decimal strings ([`Decimal`]), instants RFC 3339 in UTC ([`Timestamp`]), ids their prefixed text (from the domain).
//! It deliberately does not know HTTP, Postgres or who may call what.
//!
//! To add a resource: one module with its requests (`wire::request!`) and replies (`wire::reply!`).

#[macro_use]
mod wire;

pub mod alert;
pub mod audit;
pub mod decimal;
pub mod grant;
pub mod key;
pub mod limits;
pub mod live;
pub mod matrix;
pub mod model;
pub mod numbers;
pub mod page;
pub mod person;
pub mod platform;
pub mod pool;
pub mod price;
pub mod problem;
pub mod project;
pub mod quota_change;
pub mod request;
pub mod service_token;
pub mod session;
pub mod simulation;
pub mod statement;
pub mod target;
pub mod tenant;
pub mod timestamp;
pub mod upstream;
pub mod usage;
pub mod webhook;

pub use decimal::{Decimal, Factor};
pub use numbers::{Numbers, Overdraft};
pub use page::Page;
pub use problem::{FieldError, Problem};
pub use timestamp::Timestamp;
