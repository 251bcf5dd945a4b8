//! Requests of the data plane, as they were recorded.

use domain::{GrantId, KeyId, ProjectId, RequestId, TenantId};
use serde_json::Value;

use crate::{Decimal, Timestamp};

reply! {
    /// A recorded request.
    pub struct Request {
        /// Id.
        pub request_id: RequestId,
        /// The caller's own id of it.
        pub client_request_id: Option<String>,
        /// Tenant.
        pub tenant_id: TenantId,
        /// Project.
        pub project_id: ProjectId,
        /// Key.
        pub key_id: KeyId,
        /// The model asked for.
        pub model: String,
        /// The model that answered.
        pub served_model: Option<String>,
        /// `final`, `expired` or `rolled_back`.
        pub outcome: String,
        /// Whether tokens were counted here because the upstream reported none.
        pub estimated: bool,
        /// Whether the charge passed the freeze.
        pub overrun: bool,
        /// What was set aside at the end.
        pub freeze: Decimal,
        /// The first estimate.
        pub estimate: Decimal,
        /// How often more was set aside.
        pub extensions: i32,
        /// Tokens by kind.
        #[cfg_attr(feature = "openapi", schema(value_type = Object))]
        pub usage: Value,
        /// The charge, late correction included.
        pub charge: Decimal,
        /// The charge's parts by grant.
        pub allocations: Vec<Allocation>,
        /// Each try at an upstream: `target`, `status`, `ms`.
        #[cfg_attr(feature = "openapi", schema(value_type = Vec<Object>))]
        pub attempts: Value,
        /// The upstream's last status.
        pub upstream_status: Option<i32>,
        /// When the request came in.
        pub started_at: Option<Timestamp>,
        /// When its quota was set aside.
        pub frozen_at: Option<Timestamp>,
        /// When the first byte of the answer came.
        pub first_byte_at: Option<Timestamp>,
        /// When it ended.
        pub ended_at: Option<Timestamp>,
        /// When it was recorded.
        pub recorded_at: Timestamp,
        /// Whether a late correction was booked.
        pub late: bool,
    }

    /// A part of a charge, spent from one grant.
    pub struct Allocation {
        /// The grant.
        pub grant_id: GrantId,
        /// How much.
        pub amount: Decimal,
    }
}
