//! The table of contents of the data plane.

use std::sync::Arc;

use axum::middleware;
use axum::response::Response;
use axum::routing::{MethodRouter, get, post};
use axum::{Extension, Router};

use crate::app::App;
use crate::dialect::Dialect;
use crate::error::ApiError;
use crate::request_context::{self, RequestContext};
use crate::routes::{health, models, paid, quota};

/// Every route. All of `/v1` needs a key.
pub fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/v1/chat/completions", paid(Dialect::Chat))
        .route("/v1/completions", paid(Dialect::Completions))
        .route("/v1/responses", paid(Dialect::Responses))
        .route("/v1/embeddings", paid(Dialect::Embeddings))
        .route("/v1/messages", paid(Dialect::Messages))
        .route("/v1/models", get(models::list))
        .route("/v1/models/{*id}", get(models::one))
        .route("/v1/quota", get(quota::get))
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .fallback(unknown_path)
        .method_not_allowed_fallback(wrong_method)
        .layer(middleware::from_fn(request_context::layer))
        .with_state(app)
}

fn paid(dialect: Dialect) -> MethodRouter<Arc<App>> {
    post(move |app, caller, headers, body| paid::post(dialect, app, caller, headers, body))
}

async fn unknown_path(Extension(context): Extension<RequestContext>) -> Response {
    ApiError::unknown_path().to_response(&context)
}

async fn wrong_method(Extension(context): Extension<RequestContext>) -> Response {
    ApiError::wrong_method().to_response(&context)
}
