//! Webhook endpoints, their deliveries, and the events that they are told.

use domain::{DeliveryId, EventId, TenantId, WebhookId};
use serde_json::Value;

use crate::Timestamp;

words! {
    /// What an event tells.
    pub enum EventType {
        /// A threshold of the quota was crossed; `threshold_percent` says which.
        QuotaLow = "quota.low",
        /// The quota is used up.
        QuotaExhausted = "quota.exhausted",
        /// Quota that was low or used up is there again.
        QuotaRestored = "quota.restored",
        /// The quota is used up and the overdraft is in use.
        OverdraftStarted = "overdraft.started",
        /// The overdraft is used up.
        OverdraftExhausted = "overdraft.exhausted",
        /// A project has reached its soft budget.
        BudgetSoftReached = "budget.soft_reached",
        /// A grant ends soon.
        GrantExpiring = "grant.expiring",
        /// A key was created.
        KeyCreated = "key.created",
        /// A key was disabled or deleted.
        KeyRevoked = "key.revoked",
        /// A tenant was suspended.
        TenantSuspended = "tenant.suspended",
        /// Consumption is unusual.
        UsageAnomaly = "usage.anomaly",
        /// A webhook endpoint was disabled because it is gone or has failed for days.
        EndpointDisabled = "endpoint.disabled",
        /// Sent on request, to try an endpoint.
        WebhookTest = "webhook.test",
    }

    /// Whether an endpoint is told.
    pub enum WebhookStatus {
        /// It is.
        Enabled = "enabled",
        /// It is not, until it is enabled again.
        Disabled = "disabled",
    }

    /// Why an endpoint was disabled.
    pub enum DisabledReason {
        /// It answered 410.
        Gone = "gone",
        /// Every attempt failed for days.
        Failing = "failing",
    }

    /// How far a delivery is.
    pub enum DeliveryState {
        /// It is tried at `next_at`.
        Pending = "pending",
        /// The endpoint answered with a 2xx.
        Delivered = "delivered",
        /// It was given up; a redelivery tries again.
        Failed = "failed",
    }
}

request! {
    /// Adds an endpoint.
    pub struct CreateWebhook {
        /// Whose events it is told; null: every tenant's, or those of the only tenant that the caller may see.
        pub tenant_id: Option<TenantId>,
        /// An `https` URL on the public internet.
        pub url: String,
        /// The types that it is told.
        pub event_types: Vec<EventType>,
        /// For people.
        pub description: Option<String>,
    }

    /// Changes an endpoint. Absent fields stay.
    pub struct ChangeWebhook {
        /// URL.
        pub url: Option<String>,
        /// The types that it is told.
        pub event_types: Option<Vec<EventType>>,
        /// For people.
        pub description: Option<String>,
    }

    /// Which events are to be delivered again: those named, or those of a range of time. At most 1000, oldest first.
    pub struct Redeliver {
        /// These.
        pub event_ids: Option<Vec<EventId>>,
        /// Those that happened at or after, of the types that the endpoint is told.
        pub from: Option<Timestamp>,
        /// Those that happened before.
        pub to: Option<Timestamp>,
    }
}

reply! {
    /// An endpoint.
    pub struct Webhook {
        /// Id.
        pub id: WebhookId,
        /// The secret that signs, in the reply to its creation only.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub secret: Option<String>,
        /// Whose events it is told; null: every tenant's.
        pub tenant_id: Option<TenantId>,
        /// Where events are sent.
        pub url: String,
        /// The types that it is told.
        pub event_types: Vec<EventType>,
        /// For people.
        pub description: String,
        /// Whether it is told.
        pub status: WebhookStatus,
        /// Why it was disabled.
        pub disabled_reason: Option<DisabledReason>,
        /// The first failed attempt since the last one that worked.
        pub failing_since: Option<Timestamp>,
        /// Until when the secret before the last rotation signs too.
        pub old_valid_until: Option<Timestamp>,
        /// When it was added.
        pub created_at: Timestamp,
        /// + 1 per change; the ETag.
        pub version: i64,
    }

    /// Another secret, in this reply only.
    pub struct RotatedSecret {
        /// The secret from now on.
        pub secret: String,
        /// Until then the old one is good too.
        pub old_valid_until: Timestamp,
    }

    /// An event was made.
    pub struct TestSent {
        /// Its id.
        pub event_id: EventId,
    }

    /// How many events are delivered again.
    pub struct Queued {
        /// So many.
        pub queued: u64,
    }

    /// A delivery of an event to an endpoint.
    pub struct Delivery {
        /// Id.
        pub id: DeliveryId,
        /// The event; the `webhook-id` of each attempt.
        pub event_id: EventId,
        /// Its type.
        pub r#type: EventType,
        /// How far it is.
        pub state: DeliveryState,
        /// The last 20 attempts, oldest first.
        pub attempts: Vec<DeliveryAttempt>,
        /// When it is tried next.
        pub next_at: Option<Timestamp>,
    }

    /// One attempt.
    pub struct DeliveryAttempt {
        /// When it began.
        pub at: Timestamp,
        /// The HTTP status; null: there was no reply.
        pub status: Option<u16>,
        /// How long it took, in milliseconds.
        pub ms: u64,
        /// Why it failed.
        pub error: Option<String>,
        /// The first 16 kB of the reply.
        pub body: Option<String>,
    }

    /// An event, as the feed shows it and webhooks send it.
    pub struct Event {
        /// Id.
        pub id: EventId,
        /// What it tells.
        pub r#type: EventType,
        /// When it happened.
        pub timestamp: Timestamp,
        /// See `/event-types`.
        #[cfg_attr(feature = "openapi", schema(value_type = Object))]
        pub data: Value,
    }

    /// A type of events.
    pub struct EventSchema {
        /// The type.
        pub r#type: EventType,
        /// What it tells.
        pub description: String,
        /// A JSON Schema (2020-12) of the body that is posted.
        #[cfg_attr(feature = "openapi", schema(value_type = Object))]
        pub schema: Value,
    }
}
