//! What happened: an ordered feed, for systems that would rather ask than be told.

pub mod list;
pub mod schema;
pub mod types;
