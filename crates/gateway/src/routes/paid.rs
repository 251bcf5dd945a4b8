//! Every `POST` that costs something.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use http::{HeaderMap, header};

use crate::app::App;
use crate::auth::Authenticated;
use crate::dialect::Dialect;
use crate::error::ApiError;
use crate::life::once::Once;
use crate::life::{self, Call};
use crate::{body, upstream};

/// Reads the request and starts its life.
pub async fn post(
    dialect: Dialect,
    State(app): State<Arc<App>>,
    Authenticated { caller, context }: Authenticated,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let read = async {
        let body = body::read(body, app.config.body_bytes, app.config.body_timeout_s).await?;
        let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let asked = dialect.read_body(content_type, &body)?;
        let once = Once::read(&app, &caller, &context, dialect, &headers, &dialect.identity(&body))?;
        Ok::<_, ApiError>((body, asked, once))
    };
    match read.await {
        Ok((body, asked, once)) => {
            let passed = upstream::passed(dialect, &headers);
            life::start(Call { app, caller, context, dialect, passed, body, asked, once }).await
        }
        Err(error) => error.to_response(&context),
    }
}
