//! Changing a quota by a delta, with a preview by the server itself.

pub mod dialog;
pub mod list;
mod preview;
