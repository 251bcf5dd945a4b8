//! `GET /v1/models`, `GET /v1/models/{id}`: what this key may use.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::app::App;
use crate::auth::Authenticated;
use crate::catalog::Model;
use crate::error::ApiError;
use crate::keys::Caller;

/// Every model that this key may use and that can be served.
pub async fn list(State(app): State<Arc<App>>, Authenticated { caller, context }: Authenticated) -> Json<Value> {
    let snapshot = app.catalog.snapshot();
    let is_usable = |model: &&&Arc<Model>| is_usable(model, &caller, context.started_at);
    let data: Vec<_> = snapshot.models().iter().filter(is_usable).map(|model| shape(model)).collect();
    Json(json!({"object": "list", "data": data}))
}

/// One of them.
pub async fn one(
    State(app): State<Arc<App>>,
    Authenticated { caller, context }: Authenticated,
    Path(name): Path<String>,
) -> Response {
    let snapshot = app.catalog.snapshot();
    match snapshot.model(&name).filter(|model| is_usable(model, &caller, context.started_at)) {
        Some(model) => Json(shape(model)).into_response(),
        None => ApiError::model_not_found(&name).to_response(&context),
    }
}

fn is_usable(model: &Model, caller: &Caller, now: jiff::Timestamp) -> bool {
    caller.may_use(&model.name) && model.is_offered(now)
}

fn shape(model: &Model) -> Value {
    json!({
        "id": model.name, "object": "model", "created": model.created, "owned_by": "tollgate", "mode": model.mode,
        "context_window": model.context_window, "max_output_tokens": model.max_output_tokens,
    })
}
