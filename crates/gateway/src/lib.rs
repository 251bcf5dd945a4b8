//! The data plane: relays calls to language models and takes their price out of the caller's quota, before, during
//! and after the call.
//!
//! A request's life stands in [`life`], one file a step. It deliberately knows neither Redis nor SQL: freezes come
//! from `quota`, keys and the catalog from `store`.
//!
//! [`translate`] serves a dialect by targets that speak only another.
//!
//! To add a route: its line in [`router`], its handler in [`routes`], its dialect in [`dialect`].

pub mod address;
pub mod announce;
pub mod app;
pub mod auth;
pub mod body;
pub mod catalog;
pub mod changes;
pub mod config;
pub mod dialect;
pub mod error;
pub mod health;
pub mod keys;
pub mod life;
pub mod rates;
pub mod report;
pub mod request_context;
pub mod router;
pub mod routes;
pub mod serve;
pub mod server;
pub mod tls;
pub mod tokens;
pub mod translate;
pub mod upstream;
pub mod wire;
