//! The one place where a failure becomes an HTTP status. Causes go to the log, stable codes to the client.

use api_types::FieldError;
use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode, header};
use serde_json::{Map, Value};

/// A call that failed. [`crate::problem`] writes it as a problem document with the call's id.
#[derive(Debug, Clone)]
pub struct Error(Box<Parts>);

#[derive(Debug, Clone)]
pub(crate) struct Parts {
    pub status: StatusCode,
    pub code: &'static str,
    pub detail: String,
    pub errors: Vec<FieldError>,
    pub more: Map<String, Value>,
    pub headers: Vec<(HeaderName, HeaderValue)>,
}

/// What a handler returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// A failure with a stable code.
    pub fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        let (errors, more, headers) = (Vec::new(), Map::new(), Vec::new());
        Self(Box::new(Parts { status, code, detail: detail.into(), errors, more, headers }))
    }

    /// 401: nobody known calls.
    pub fn unauthenticated(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthenticated", detail)
            .header(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"tollgate\""))
    }

    /// 403: a known caller without the role or scope.
    pub fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", detail)
    }

    /// 404: no such thing, or not the caller's.
    pub fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", "there is no such resource, or it belongs to someone else")
    }

    /// 409: what is there does not allow it.
    pub fn conflict(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "conflict", detail)
    }

    /// 409: a name that must be unique is taken.
    pub fn already_exists(field: &str, detail: impl Into<String>) -> Self {
        let detail = detail.into();
        let error = FieldError { field: field.to_owned(), code: "already_exists".to_owned(), message: detail.clone() };
        let mut this = Self::new(StatusCode::CONFLICT, "already_exists", detail);
        this.0.errors.push(error);
        this
    }

    /// 422: these fields are wrong.
    pub fn fields(errors: Vec<FieldError>) -> Self {
        let detail = match errors.as_slice() {
            [one] => format!("{}: {}", one.field, one.message),
            many => format!("{} fields are wrong; see errors", many.len()),
        };
        let mut this = Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_field", detail);
        this.0.errors = errors;
        this
    }

    /// 422: one field is wrong.
    pub fn field(field: &str, code: &str, message: impl Into<String>) -> Self {
        Self::fields(vec![FieldError { field: field.to_owned(), code: code.to_owned(), message: message.into() }])
    }

    /// 500: our fault. The cause is logged here, once.
    pub fn internal(cause: impl std::fmt::Display) -> Self {
        tracing::error!(%cause, "the call failed");
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            "something went wrong here; the log has the cause under this request_id",
        )
    }

    /// 503: try again.
    pub fn unavailable(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail).retry_after(1)
    }

    /// Adds a fact, such as the id of what is there already.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.more.insert(name.to_owned(), value.into());
        self
    }

    /// Adds `Retry-After`.
    #[must_use]
    pub fn retry_after(self, seconds: u64) -> Self {
        self.header(header::RETRY_AFTER, HeaderValue::from(seconds.max(1)))
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.0.headers.push((name, value));
        self
    }

    /// The HTTP status.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.0.status
    }

    pub(crate) fn parts(&self) -> &Parts {
        &self.0
    }
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        match error {
            store::Error::NotFound => Self::not_found(),
            store::Error::AlreadyExists { field } => {
                let field = constraint_field(&field);
                Self::already_exists(field, format!("{field} is already in use"))
            }
            store::Error::Stale => changed_meanwhile(),
            store::Error::OutOfRange => Self::field(
                "amount",
                "out_of_range",
                "the sum would pass the largest amount, 9007199254740991 units (90071992.54740991 credits); give less",
            ),
            store::Error::Unavailable(cause) => {
                tracing::warn!(%cause, "database unavailable");
                Self::unavailable("the database can't be reached at the moment; try again")
            }
            other => {
                let cause = std::error::Error::source(&other).map(ToString::to_string).unwrap_or_default();
                Self::internal(format_args!("{other}: {cause}"))
            }
        }
    }
}

/// 412: the resource has another version than `If-Match` says.
pub fn changed_meanwhile() -> Error {
    Error::new(
        StatusCode::PRECONDITION_FAILED,
        "precondition_failed",
        "the resource was changed since it was read; read it again and repeat the change on what it is now",
    )
}

/// The field that a unique constraint of the schema speaks of.
fn constraint_field(constraint: &str) -> &str {
    match constraint {
        "tenants_external_id_key" => "external_id",
        "users_email_key" => "email",
        "models_name_key" | "upstreams_name_key" => "name",
        "prices_model_id_valid_from_key" => "valid_from",
        other => other,
    }
}

impl IntoResponse for Error {
    /// The body is written by [`crate::problem::finish`], which knows the call's id.
    fn into_response(self) -> Response {
        let mut response = self.0.status.into_response();
        for (name, value) in &self.0.headers {
            response.headers_mut().insert(name, value.clone());
        }
        response.extensions_mut().insert(self);
        response
    }
}
