//! `GET /healthz`, `GET /readyz`.

use std::sync::Arc;

use axum::extract::State;
use http::StatusCode;

use crate::app::App;

/// The process answers.
pub async fn alive() -> &'static str {
    "ok\n"
}

/// The gateway takes requests: it is not stopping, and its ledger's scripts are loaded.
pub async fn ready(State(app): State<Arc<App>>) -> (StatusCode, &'static str) {
    if app.is_ready().await { (StatusCode::OK, "ready\n") } else { (StatusCode::SERVICE_UNAVAILABLE, "not ready\n") }
}
