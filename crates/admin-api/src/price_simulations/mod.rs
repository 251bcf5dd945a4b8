//! What recorded requests would have cost at other prices.

pub mod create;
