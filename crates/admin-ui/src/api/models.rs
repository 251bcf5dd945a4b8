//! Models offered to tenants, their prices and targets.

use api_types::Page;
use api_types::model::{ChangeModel, CreateModel, Model};
use api_types::price::{CreatePrice, Price};
use api_types::target::{ChangeTarget, CreateTarget, Target};

use super::call::{Call, Failure, part};

fn path(id: &str) -> String {
    format!("/models/{}", part(id))
}

/// Every model (at most 200).
///
/// # Errors
/// As every call.
pub async fn list() -> Result<Page<Model>, Failure> {
    Call::get("/models?limit=200").read().await
}

/// One model.
///
/// # Errors
/// `not_found`.
pub async fn one(id: &str) -> Result<Model, Failure> {
    Call::get(path(id)).read().await
}

/// Offers a model.
///
/// # Errors
/// The fields that were refused.
pub async fn create(model: &CreateModel) -> Result<Model, Failure> {
    Call::post("/models").json(model).read().await
}

/// Changes a model.
///
/// # Errors
/// The fields that were refused; `precondition_failed` where it was changed meanwhile.
pub async fn change(id: &str, version: i64, change: &ChangeModel) -> Result<Model, Failure> {
    Call::patch(path(id)).json(change).on_version(version).read().await
}

/// Removes a model with its targets and prices.
///
/// # Errors
/// As every call.
pub async fn delete(id: &str) -> Result<(), Failure> {
    Call::delete(path(id)).done().await
}

/// A model's prices, past and to come.
///
/// # Errors
/// As every call.
pub async fn prices(id: &str) -> Result<Page<Price>, Failure> {
    Call::get(format!("{}/prices?limit=200", path(id))).read().await
}

/// Adds a price.
///
/// # Errors
/// The fields that were refused.
pub async fn add_price(id: &str, price: &CreatePrice) -> Result<Price, Failure> {
    Call::post(format!("{}/prices", path(id))).json(price).read().await
}

/// A model's targets.
///
/// # Errors
/// As every call.
pub async fn targets(id: &str) -> Result<Page<Target>, Failure> {
    Call::get(format!("{}/targets?limit=200", path(id))).read().await
}

/// Adds a target.
///
/// # Errors
/// The fields that were refused.
pub async fn add_target(id: &str, target: &CreateTarget) -> Result<Target, Failure> {
    Call::post(format!("{}/targets", path(id))).json(target).read().await
}

/// Changes a target.
///
/// # Errors
/// The fields that were refused; `precondition_failed` where it was changed meanwhile.
pub async fn change_target(id: &str, version: i64, change: &ChangeTarget) -> Result<Target, Failure> {
    Call::patch(format!("/targets/{}", part(id))).json(change).on_version(version).read().await
}

/// Removes a target.
///
/// # Errors
/// As every call.
pub async fn delete_target(id: &str) -> Result<(), Failure> {
    Call::delete(format!("/targets/{}", part(id))).done().await
}
