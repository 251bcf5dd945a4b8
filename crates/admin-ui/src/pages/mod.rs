//! The pages: one folder each. A page fetches and lays out; what it shows is made of components.

pub mod address;
pub mod force;
pub mod form;
pub mod form_dialog;
pub mod frame;
pub mod key;
pub mod limits_fields;
pub mod listed;
pub mod missing;
pub mod model;
pub mod models;
pub mod project;
pub mod quota_change;
pub mod request;
pub mod requests;
pub mod rotate;
pub mod service_tokens;
pub mod set_up;
pub mod sign_in;
pub mod tenant;
pub mod tenants;
pub mod unreachable;
pub mod upstreams;
pub mod webhook;
pub mod webhooks;
