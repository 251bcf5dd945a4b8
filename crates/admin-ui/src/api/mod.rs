//! Calls to the admin API: one module per noun, plain async functions that return wire types or a [`Failure`].

pub mod call;
pub mod grants;
pub mod keys;
pub mod models;
pub mod people;
pub mod projects;
pub mod tenants;

pub use call::Failure;
