//! `POST /v1/messages/count_tokens`: free, so nothing is frozen and no limit counts it; but not without a key.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::{Value, json};

use crate::app::App;
use crate::auth::Authenticated;
use crate::catalog::{Model, Target};
use crate::dialect::{Dialect, field};
use crate::error::ApiError;
use crate::health::Sign;
use crate::life::{Call, estimate, send};
use crate::upstream::refusal::{self, Refusal};
use crate::wire::edit::quote;
use crate::{body, upstream};

const ROUTE: &str = "/messages/count_tokens";

/// Asks a target that speaks Anthropic's dialect, where the model has one; else counts as an estimate does.
pub async fn post(
    State(app): State<Arc<App>>,
    Authenticated { caller, context }: Authenticated,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let counted = async {
        let body = body::read(body, app.config.body_bytes, app.config.body_timeout_s).await?;
        let asked = Dialect::Messages.read(&field::object(&body)?)?;
        let passed = upstream::passed(Dialect::Messages, &headers);
        let call =
            Call { app, caller, context: context.clone(), dialect: Dialect::Messages, passed, body, asked, once: None };
        count(&call).await
    };
    counted.await.unwrap_or_else(|error: ApiError| error.to_response(&context))
}

async fn count(call: &Call) -> Result<Response, ApiError> {
    let name = &call.asked.model;
    let snapshot = call.app.catalog.snapshot();
    let model = snapshot.model(name).filter(|model| model.is_offered(call.context.started_at));
    let model =
        model.filter(|model| call.caller.may_use(&model.name)).ok_or_else(|| ApiError::model_not_found(name))?;
    if !call.dialect.serves(model) {
        return Err(ApiError::model_not_on_this_route(name));
    }
    match by_target(call, model).await? {
        Some(said) => {
            let json = HeaderValue::from_static("application/json");
            Ok(([(header::CONTENT_TYPE, json)], said).into_response())
        }
        None => Ok(Json(json!({"input_tokens": estimate::count(call, model).await?.prompt_tokens()})).into_response()),
    }
}

/// A target's own answer; none where no target speaks the dialect or knows the route.
async fn by_target(call: &Call, model: &Model) -> Result<Option<Bytes>, ApiError> {
    let mut last = Ok(None);
    for target in send::in_order(call, &model.targets) {
        if !call.dialect.is_spoken_by(&target) {
            continue;
        }
        match ask(call, &target).await {
            Ok(said) => return Ok(said),
            Err(refusal) if refusal.next => last = Err(refusal.error),
            Err(refusal) => return Err(refusal.error),
        }
    }
    last
}

async fn ask(call: &Call, target: &Target) -> Result<Option<Bytes>, Refusal> {
    let mut object = field::object(&call.body).map_err(|bad| Refusal {
        reason: bad.message.clone(),
        error: bad.into(),
        next: false,
        sign: Sign::None,
    })?;
    object.set("model", quote(&target.upstream_model));
    let key = target.upstream.key.as_deref();
    let answer = upstream::post_to(target, call, ROUTE, object.to_text().into()).await;
    let answer = answer.map_err(|failure| refusal::of_failure(&failure, key))?;
    let status = answer.status;
    if matches!(status, StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_IMPLEMENTED) {
        return Ok(None); // many servers of this dialect leave the route out
    }
    let (retry_after_s, said) = (answer.retry_after_s(), send::beginning(answer).await);
    if !status.is_success() {
        return Err(refusal::of_status(status, retry_after_s, &said, key));
    }
    match serde_json::from_slice::<Value>(&said) {
        Ok(value) if value["input_tokens"].is_u64() => Ok(Some(said)),
        _ => Err(refusal::of_garbage("no count of tokens")),
    }
}
