//! Whether the process lives, and whether it can work.

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use serde::Serialize;

use crate::app::App;

/// What `/readyz` says.
#[derive(Debug, Serialize)]
pub struct Ready {
    ready: bool,
    postgres: bool,
    /// False: changes are committed, and come into force when Redis is back.
    redis: bool,
}

/// `/healthz`: the process answers.
pub async fn live() -> &'static str {
    "ok\n"
}

/// `/readyz`: 200 where Postgres takes statements.
pub async fn ready(State(app): State<App>) -> (StatusCode, Json<Ready>) {
    let postgres = app.store().ping().await.is_ok();
    let redis = app.quota().is_ready().await;
    let status = if postgres { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(Ready { ready: postgres, postgres, redis }))
}
