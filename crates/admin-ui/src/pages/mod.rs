//! The pages: one folder each. A page fetches and lays out; what it shows is made of components.

pub mod form;
pub mod frame;
pub mod missing;
pub mod project;
pub mod set_up;
pub mod sign_in;
pub mod tenant;
pub mod tenants;
pub mod unreachable;
