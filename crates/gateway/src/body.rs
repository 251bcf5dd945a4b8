//! Reading a request's body within its bounds.

use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http_body::Body as _;
use http_body_util::{BodyExt, LengthLimitError, Limited};

use crate::error::ApiError;

/// Reads a body of at most `limit` bytes within `time`.
///
/// # Errors
/// Too large, too slow, or broken off.
pub async fn read(body: Body, limit: usize, time: Duration) -> Result<Bytes, ApiError> {
    let announced = body.size_hint().lower();
    if usize::try_from(announced).is_ok_and(|announced| announced > limit) {
        return Err(ApiError::body_too_large(limit));
    }
    match tokio::time::timeout(time, Limited::new(body, limit).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(ApiError::body_too_large(limit)),
        Ok(Err(_)) => Err(ApiError::body_unreadable("The request body broke off.")),
        Err(_) => Err(ApiError::body_unreadable("The request body did not arrive in time.")),
    }
}
