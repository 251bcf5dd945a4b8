//! Calls to the admin API: one module per noun, plain async functions that return wire types or a [`Failure`].

pub mod call;
pub mod grants;
pub mod keys;
pub mod live;
pub mod models;
pub mod people;
pub mod platform;
pub mod playground;
pub mod prices;
pub mod projects;
pub mod quota_changes;
pub mod requests;
pub mod service_tokens;
pub mod tenants;
pub mod upstreams;
pub mod users;
pub mod webhooks;

pub use call::Failure;
