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
use crate::routes::{count_tokens, health, models, paid, quota};

/// The routes that cost something: each one enforces every limit, as a test over this table proves.
pub const METERED: [(&str, Dialect); 9] = [
    ("/v1/chat/completions", Dialect::Chat),
    ("/v1/completions", Dialect::Completions),
    ("/v1/responses", Dialect::Responses),
    ("/v1/embeddings", Dialect::Embeddings),
    ("/v1/messages", Dialect::Messages),
    ("/v1/images/generations", Dialect::Images),
    ("/v1/audio/speech", Dialect::Speech),
    ("/v1/audio/transcriptions", Dialect::Transcriptions),
    ("/v1/rerank", Dialect::Rerank),
];

/// Every route. All of `/v1` needs a key.
pub fn router(app: Arc<App>) -> Router {
    let metered = METERED.into_iter().fold(Router::new(), |router, (path, dialect)| router.route(path, paid(dialect)));
    metered
        .route("/v1/messages/count_tokens", post(count_tokens::post))
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
