//! `ETag` and `If-Match`: a change is made on what its caller has read, or not at all.

use axum::extract::FromRequestParts;
use http::request::Parts;
use http::{HeaderValue, StatusCode};

use crate::call::header_text;
use crate::error::{Error, Result, changed_meanwhile};

/// The version that the caller has read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfMatch {
    /// Any (`*`).
    Any,
    /// This one.
    Version(i64),
}

impl IfMatch {
    /// Tests the version that is there.
    ///
    /// # Errors
    /// 412.
    pub fn check(self, version: i64) -> Result<()> {
        match self {
            Self::Version(wanted) if wanted != version => Err(changed_meanwhile()),
            _ => Ok(()),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for IfMatch {
    type Rejection = Error;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        let text = header_text(&parts.headers, "if-match").trim();
        if text.is_empty() {
            return Err(Error::new(
                StatusCode::PRECONDITION_REQUIRED,
                "precondition_required",
                "read the resource first and send its ETag in the header If-Match",
            ));
        }
        if text == "*" {
            return Ok(Self::Any);
        }
        // An ETag that we never made matches nothing.
        let version = text.trim_matches('"').parse().map_err(|_| changed_meanwhile())?;
        Ok(Self::Version(version))
    }
}

/// The `ETag` of a version.
///
/// # Errors
/// Never in practice: digits are header text.
pub fn etag(version: i64) -> Result<HeaderValue> {
    HeaderValue::from_str(&format!("\"{version}\"")).map_err(Error::internal)
}
