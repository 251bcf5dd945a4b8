//! JSON Schemas of what is posted to webhook endpoints.

use api_types::webhook::EventType;
use serde_json::{Value, json};

/// What a type tells.
#[must_use]
pub const fn describe(kind: EventType) -> &'static str {
    match kind {
        EventType::QuotaLow => {
            "A threshold of a tenant's, project's or key's quota was crossed, once until it is armed again."
        }
        EventType::QuotaExhausted => "A quota is used up.",
        EventType::QuotaRestored => "A quota that was low or used up is there again.",
        EventType::OverdraftStarted => "A quota is used up and its overdraft is in use.",
        EventType::OverdraftExhausted => "An overdraft is used up.",
        EventType::BudgetSoftReached => "A project has reached its soft budget.",
        EventType::GrantExpiring => "A grant ends soon.",
        EventType::KeyCreated => "A key was created.",
        EventType::KeyRevoked => "A key was disabled or deleted.",
        EventType::TenantSuspended => "A tenant was suspended.",
        EventType::UsageAnomaly => "A tenant's consumption is unusual.",
        EventType::EndpointDisabled => "A webhook endpoint is gone or has failed for days, and was disabled.",
        EventType::WebhookTest => "Sent on request, to try an endpoint.",
    }
}

/// The body's schema. Receivers must bear further fields.
#[must_use]
pub fn of(kind: EventType) -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": kind,
        "type": "object",
        "required": ["type", "timestamp", "data"],
        "properties": {
            "type": { "const": kind },
            "timestamp": { "type": "string", "format": "date-time" },
            "data": data(kind),
        },
    })
}

fn data(kind: EventType) -> Value {
    let id = |prefix: &str| json!({ "type": "string", "pattern": format!("^{prefix}_[0-7][0-9a-hjkmnp-tv-z]{{25}}$") });
    let tenant = id("t");
    match kind {
        EventType::QuotaLow
        | EventType::QuotaExhausted
        | EventType::QuotaRestored
        | EventType::OverdraftStarted
        | EventType::OverdraftExhausted
        | EventType::BudgetSoftReached => json!({
            "type": "object",
            "required": ["tenant_id", "scope", "quota", "version"],
            "properties": {
                "tenant_id": tenant,
                "scope": scope(),
                "threshold_percent": { "type": "integer" },
                "quota": numbers(),
                "version": { "type": "integer" },
            },
        }),
        EventType::EndpointDisabled => json!({
            "type": "object",
            "required": ["tenant_id", "webhook_id", "url", "reason", "failing_since"],
            "properties": {
                "tenant_id": { "anyOf": [tenant, { "type": "null" }] },
                "webhook_id": id("wh"),
                "url": { "type": "string" },
                "reason": { "enum": ["gone", "failing"] },
                "failing_since": { "type": ["string", "null"], "format": "date-time" },
            },
        }),
        EventType::WebhookTest => json!({
            "type": "object",
            "required": ["tenant_id", "webhook_id"],
            "properties": { "tenant_id": { "anyOf": [tenant, { "type": "null" }] }, "webhook_id": id("wh") },
        }),
        EventType::GrantExpiring
        | EventType::KeyCreated
        | EventType::KeyRevoked
        | EventType::TenantSuspended
        | EventType::UsageAnomaly => json!({
            "type": "object", "required": ["tenant_id"], "properties": { "tenant_id": tenant },
        }),
    }
}

fn scope() -> Value {
    json!({
        "type": "object",
        "required": ["kind", "id", "period"],
        "properties": {
            "kind": { "enum": ["tenant", "project", "key", "pool"] },
            "id": { "type": "string" },
            "period": { "type": ["string", "null"] },
        },
    })
}

fn numbers() -> Value {
    let amount = json!({ "type": "string", "pattern": "^-?[0-9]+(\\.[0-9]{8})?$" });
    json!({
        "type": "object",
        "required": ["unit", "total", "used", "frozen", "remaining", "refunded", "debt", "overdraft", "version", "as_of"],
        "properties": {
            "unit": { "enum": ["credit", "token"] },
            "total": amount, "used": amount, "frozen": amount, "remaining": amount, "refunded": amount, "debt": amount,
            "overdraft": {
                "type": "object",
                "properties": { "enabled": { "type": "boolean" }, "limit": amount, "used": amount, "remaining": amount },
            },
            "period": { "type": ["string", "null"] },
            "resets_at": { "type": ["string", "null"], "format": "date-time" },
            "version": { "type": "integer" },
            "as_of": { "type": "string", "format": "date-time" },
        },
    })
}
