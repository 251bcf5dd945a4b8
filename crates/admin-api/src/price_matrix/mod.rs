//! The whole catalog as a file: read, compared, put in force.

mod apply;
mod differ;
pub mod read;
mod stored;
pub mod write;
