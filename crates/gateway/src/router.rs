//! The table of contents of the data plane.

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::middleware;
use axum::response::Response;
use axum::routing::{get, post};
use domain::RequestId;

use crate::app::App;
use crate::error::ApiError;
use crate::request_context::{self, RequestContext};
use crate::routes::{chat_completions, health, models, quota};

/// Every route. All of `/v1` needs a key.
pub fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/v1/chat/completions", post(chat_completions::post))
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

async fn unknown_path(request: Request) -> Response {
    ApiError::unknown_path().to_response(id_of(&request))
}

async fn wrong_method(request: Request) -> Response {
    ApiError::wrong_method().to_response(id_of(&request))
}

fn id_of(request: &Request) -> RequestId {
    request.extensions().get::<RequestContext>().map_or_else(RequestId::generate, |context| context.id)
}
