//! Replies: JSON with `ETag` and `Location` where they belong.

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;

use crate::error::{Error, Result};
use crate::precondition::etag;

/// A JSON reply.
#[derive(Debug)]
pub struct Reply<T> {
    status: StatusCode,
    location: Option<String>,
    version: Option<i64>,
    body: T,
}

impl<T: Serialize> Reply<T> {
    /// 200 with a body.
    pub const fn ok(body: T) -> Self {
        Self { status: StatusCode::OK, location: None, version: None, body }
    }

    /// 201 with the resource and where it is, below `/api/v1`.
    pub fn created(path: &str, body: T) -> Self {
        Self { status: StatusCode::CREATED, location: Some(format!("/api/v1{path}")), version: None, body }
    }

    /// Adds the `ETag`.
    #[must_use]
    pub fn version(mut self, version: i64) -> Self {
        self.version = Some(version);
        self
    }
}

impl<T: Serialize> IntoResponse for Reply<T> {
    fn into_response(self) -> Response {
        let build = || -> Result<Response> {
            let body = serde_json::to_vec(&self.body).map_err(Error::internal)?;
            let mut response = (self.status, [(header::CONTENT_TYPE, "application/json")], body).into_response();
            if let Some(location) = &self.location {
                response
                    .headers_mut()
                    .insert(header::LOCATION, HeaderValue::from_str(location).map_err(Error::internal)?);
            }
            if let Some(version) = self.version {
                response.headers_mut().insert(header::ETAG, etag(version)?);
            }
            Ok(response)
        };
        build().unwrap_or_else(IntoResponse::into_response)
    }
}
