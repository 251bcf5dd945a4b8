//! The console's playground: calls of the gateway by way of the admin API.

pub mod chat;
