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

/// The two ids in the path, in order.
#[derive(Debug, Clone, Copy)]
pub struct Ids<A, B>(pub A, pub B);

impl<S: Send + Sync, A: FromStr, B: FromStr> FromRequestParts<S> for Ids<A, B> {
    type Rejection = Error;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let params = RawPathParams::from_request_parts(parts, state).await.map_err(|_| Error::not_found())?;
        let mut texts = params.iter().map(|(_, text)| text);
        let (first, second) = texts.next().zip(texts.next()).ok_or_else(Error::not_found)?;
        let first = first.parse().map_err(|_| Error::not_found())?;
        let second = second.parse().map_err(|_| Error::not_found())?;
        Ok(Self(first, second))
    }
}
