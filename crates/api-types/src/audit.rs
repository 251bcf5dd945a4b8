//! The audit log.

use domain::TenantId;
use serde_json::Value;

use crate::Timestamp;

reply! {
    /// A change: who made it, of what, from where.
    pub struct AuditEntry {
        /// Its number; later entries have larger ones.
        pub id: i64,
        /// When.
        pub at: Timestamp,
        /// `usr_...`, `st_...`, `reconciler` or `cli`.
        pub actor: String,
        /// Noun and verb, such as `tenant.create`.
        pub action: String,
        /// The id of what was changed.
        pub target: String,
        /// The tenant that it belongs to; null: the platform's.
        pub tenant_id: Option<TenantId>,
        /// How it was; null for what is new.
        #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
        pub before: Option<Value>,
        /// How it is; null for what is gone.
        #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
        pub after: Option<Value>,
        /// The address that the call came from.
        pub address: Option<String>,
        /// The call's id, as in the header `X-Request-Id`.
        pub request_id: Option<String>,
    }
}
