//! `POST /v1/chat/completions`.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;

use crate::app::App;
use crate::auth::Authenticated;
use crate::body;
use crate::dialect::chat::request;
use crate::dialect::field;
use crate::error::ApiError;
use crate::life::{self, Call};

/// Reads the request and starts its life.
pub async fn post(
    State(app): State<Arc<App>>,
    Authenticated { caller, context }: Authenticated,
    body: Body,
) -> Response {
    let id = context.id;
    let read = async {
        let body = body::read(body, app.config.body_bytes, app.config.body_timeout_s).await?;
        let asked = request::read(&field::object(&body)?)?;
        Ok::<_, ApiError>((body, asked))
    };
    match read.await {
        Ok((body, asked)) => life::start(Call { app, caller, context, body, asked }).await,
        Err(error) => error.to_response(id),
    }
}
