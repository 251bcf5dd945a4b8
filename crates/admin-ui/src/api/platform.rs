//! The whole platform: figures, services, settings, alerts, audit, usage.

use api_types::Page;
use api_types::alert::{Acknowledge, Alert, Reconcile, Reconciliation};
use api_types::audit::AuditEntry;
use api_types::platform::{ChangePlatformSettings, Overview, PlatformSettings, System};
use api_types::usage::UsagePage;

use super::call::{Call, Failure, listed, part};

/// Parameters of a list, as the API names them.
pub type Asked = Vec<(&'static str, String)>;

fn with(path: &str, asked: &Asked) -> String {
    let parameters: Vec<(&str, &str)> = asked.iter().map(|(name, value)| (*name, value.as_str())).collect();
    listed(path, &parameters)
}

/// Where a list is had as a file of this `format`: `csv` or `jsonl`.
#[must_use]
pub fn export(path: &str, asked: &Asked, format: &'static str) -> String {
    let mut asked = asked.clone();
    asked.push(("format", format.to_owned()));
    format!("/api/v1{}", with(path, &asked))
}

/// What the first page shows.
///
/// # Errors
/// As every call.
pub async fn overview() -> Result<Overview, Failure> {
    Call::get("/overview").read().await
}

/// Who serves.
///
/// # Errors
/// As every call.
pub async fn system() -> Result<System, Failure> {
    Call::get("/system").read().await
}

/// Settings of the whole platform.
///
/// # Errors
/// As every call.
pub async fn settings() -> Result<PlatformSettings, Failure> {
    Call::get("/settings").read().await
}

/// Changes them.
///
/// # Errors
/// The fields that were refused; `precondition_failed` where somebody else was quicker.
pub async fn change_settings(version: i64, change: &ChangePlatformSettings) -> Result<PlatformSettings, Failure> {
    Call::patch("/settings").json(change).on_version(version).read().await
}

/// Alerts, newest first.
///
/// # Errors
/// As every call.
pub async fn alerts(asked: &Asked) -> Result<Page<Alert>, Failure> {
    Call::get(with("/alerts", asked)).page().await
}

/// Takes note of an alert.
///
/// # Errors
/// As every call.
pub async fn acknowledge(alert: &str, note: &Acknowledge) -> Result<Alert, Failure> {
    Call::post(format!("/alerts/{}/acknowledge", part(alert))).json(note).read().await
}

/// Changes that were made, newest first.
///
/// # Errors
/// As every call.
pub async fn audit(asked: &Asked) -> Result<Page<AuditEntry>, Failure> {
    Call::get(with("/audit", asked)).page().await
}

/// Sums of usage.
///
/// # Errors
/// The parameters that were refused.
pub async fn usage(asked: &Asked) -> Result<UsagePage, Failure> {
    Call::get(with("/usage", asked)).read().await
}

/// The latest comparisons of Redis and PostgreSQL.
///
/// # Errors
/// As every call.
pub async fn reconciliations() -> Result<Page<Reconciliation>, Failure> {
    Call::get("/reconciliations?limit=10").page().await
}

/// Compares now.
///
/// # Errors
/// As every call.
pub async fn reconcile(what: &Reconcile) -> Result<Reconciliation, Failure> {
    Call::post("/reconciliations").json(what).read().await
}
