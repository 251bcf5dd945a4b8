//! Tokens of systems, such as a billing system.

use domain::TenantId;
use domain::ids::ServiceTokenId;

use crate::Timestamp;

words! {
    /// One thing that a service token may do. `tenants:write`, `grants:write` and `quota:write` do not include reading;
    /// the other `write` scopes do.
    pub enum TokenScope {
        /// Read tenants.
        TenantsRead = "tenants:read",
        /// Create, change, suspend and resume tenants.
        TenantsWrite = "tenants:write",
        /// Read the four numbers.
        QuotaRead = "quota:read",
        /// Change quota by deltas.
        QuotaWrite = "quota:write",
        /// Read grants.
        GrantsRead = "grants:read",
        /// Add and end grants.
        GrantsWrite = "grants:write",
        /// Read projects.
        ProjectsRead = "projects:read",
        /// Create and change projects.
        ProjectsWrite = "projects:write",
        /// Read keys.
        KeysRead = "keys:read",
        /// Create and change keys.
        KeysWrite = "keys:write",
        /// Read models and targets.
        ModelsRead = "models:read",
        /// Create and change models and targets.
        ModelsWrite = "models:write",
        /// Read prices.
        PricesRead = "prices:read",
        /// Add prices.
        PricesWrite = "prices:write",
        /// Read upstreams.
        UpstreamsRead = "upstreams:read",
        /// Create and change upstreams.
        UpstreamsWrite = "upstreams:write",
        /// Read requests and usage.
        UsageRead = "usage:read",
        /// Charge usage metered elsewhere.
        UsageWrite = "usage:write",
        /// Manage webhook endpoints.
        WebhooksWrite = "webhooks:write",
        /// Read the feed of events.
        EventsRead = "events:read",
        /// Read the audit log.
        AuditRead = "audit:read",
        /// Manage shared pools.
        PoolsWrite = "pools:write",
        /// Reconcile the ledger.
        LedgerWrite = "ledger:write",
    }
}

request! {
    /// Makes a token.
    pub struct CreateServiceToken {
        /// What it is for.
        pub name: String,
        /// What it may do.
        pub scopes: Vec<TokenScope>,
        /// The tenants that it is limited to; null: every tenant.
        pub tenant_ids: Option<Vec<TenantId>>,
        /// When it ends by itself.
        pub expires_at: Option<Timestamp>,
    }
}

reply! {
    /// A token.
    pub struct ServiceToken {
        /// Id.
        pub id: ServiceTokenId,
        /// The token itself, in the reply to its creation only.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub secret: Option<String>,
        /// How the secret begins, to recognise it.
        pub prefix: String,
        /// What it is for.
        pub name: String,
        /// What it may do.
        pub scopes: Vec<TokenScope>,
        /// The tenants that it is limited to; null: every tenant.
        pub tenant_ids: Option<Vec<TenantId>>,
        /// When it ends by itself.
        pub expires_at: Option<Timestamp>,
        /// When it was last used, to the minute.
        pub last_used_at: Option<Timestamp>,
        /// When it was made.
        pub created_at: Timestamp,
    }
}
