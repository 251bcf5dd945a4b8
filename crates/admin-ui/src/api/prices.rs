//! The whole catalog as a file, and what other prices would have cost.

use api_types::matrix::{MatrixChanges, PriceMatrix};
use api_types::simulation::{Simulate, Simulation};
use serde_json::Value;

use super::call::{Call, Failure};

/// Where the file is had.
pub const FILE: &str = "/api/v1/price-matrix";

/// The catalog.
///
/// # Errors
/// As every call.
pub async fn matrix() -> Result<PriceMatrix, Failure> {
    Call::get("/price-matrix").read().await
}

/// Compares a catalog with the one in force, or puts it in force. Whatever was read from a file goes as it is: the API
/// knows better what is wrong with it.
///
/// # Errors
/// What is wrong with the file, by field.
pub async fn write(matrix: &Value, dry_run: bool) -> Result<MatrixChanges, Failure> {
    Call::put(if dry_run { "/price-matrix?dry_run=true" } else { "/price-matrix" }).json(matrix).read().await
}

/// What recorded requests would have cost.
///
/// # Errors
/// The fields that were refused.
pub async fn simulate(what: &Simulate) -> Result<Simulation, Failure> {
    Call::post("/price-simulations").json(what).read().await
}
