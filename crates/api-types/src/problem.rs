//! Errors as RFC 9457 problem documents.

use serde_json::{Map, Value};

/// A text outside a closed set of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownWord;

reply! {
    /// Why a call failed. `code` is stable; `detail` is for people.
    pub struct Problem {
        /// A URI of the kind of problem.
        pub r#type: String,
        /// The kind in a few words.
        pub title: String,
        /// The HTTP status.
        pub status: u16,
        /// A stable word such as `invalid_field`.
        pub code: String,
        /// What happened and what helps.
        pub detail: String,
        /// The call's id, as in the header `X-Request-Id`, in the log and in the audit.
        pub request_id: String,
        /// One entry per field that was refused.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub errors: Vec<FieldError>,
        /// More facts by code, such as `tenant_id` of the tenant that has an `external_id` already.
        #[serde(flatten)]
        #[cfg_attr(feature = "openapi", schema(additional_properties, value_type = Object))]
        pub more: Map<String, Value>,
    }

    /// What is wrong with one field.
    pub struct FieldError {
        /// The field's path, such as `plan.amount`; a query parameter or header by its name.
        pub field: String,
        /// A stable word such as `required`, `unknown_field`, `not_a_string`, `out_of_range`.
        pub code: String,
        /// For people.
        pub message: String,
    }
}
