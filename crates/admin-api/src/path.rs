//! Ids in paths: a text that is no id is simply not found.

use std::str::FromStr;

use axum::extract::{FromRequestParts, RawPathParams};
use http::request::Parts;

use crate::error::{Error, Result};

/// The only id in the path.
#[derive(Debug, Clone, Copy)]
pub struct Id<T>(pub T);

impl<S: Send + Sync, T: FromStr> FromRequestParts<S> for Id<T> {
    type Rejection = Error;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let params = RawPathParams::from_request_parts(parts, state).await.map_err(|_| Error::not_found())?;
        let (_, text) = params.iter().next().ok_or_else(Error::not_found)?;
        text.parse().map(Self).map_err(|_| Error::not_found())
    }
}
