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
        EventType::QuotaExhausted => "The quota of a tenant, project or key is used up; once until it is there again.",
        EventType::QuotaRestored => "A quota that was low or used up is there again.",
        EventType::OverdraftStarted => "A quota is used up and its overdraft is in use.",
        EventType::OverdraftExhausted => {
            "A tenant's overdraft is used up; with calls and charge of each hour of the last 24."
        }
        EventType::BudgetSoftReached => "A project has reached its soft budget.",
        EventType::GrantExpiring => {
            "A grant with something left ends within three days; not the present one of a plan that renews."
        }
        EventType::KeyCreated => "A key was created.",
        EventType::KeyRevoked => "A key was disabled or deleted.",
        EventType::TenantSuspended => "A tenant was suspended.",
        EventType::UsageAnomaly => {
            "A tenant's last hour took over 3 times the day's average or the same hour of the day before; once until it is usual again."
        }
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
    let tenant = id("t");
    match kind {
        EventType::QuotaLow | EventType::BudgetSoftReached => {
            of_quota("threshold_percent", json!({ "type": "integer" }))
        }
        EventType::OverdraftExhausted => of_quota("last_24_h", hours()),
        EventType::QuotaExhausted | EventType::QuotaRestored | EventType::OverdraftStarted => {
            of_quota("version", json!({ "type": "integer" }))
        }
        EventType::GrantExpiring => json!({
            "type": "object",
            "required": ["tenant_id", "grant_id", "kind", "amount", "remaining", "ends_at"],
            "properties": {
                "tenant_id": tenant,
                "grant_id": id("g"),
                "kind": { "enum": ["plan", "temporary", "gift"] },
                "amount": amount(),
                "remaining": amount(),
                "ends_at": { "type": "string", "format": "date-time" },
            },
        }),
        EventType::KeyCreated => of_key("prefix", json!({ "type": "string" })),
        EventType::KeyRevoked => of_key("reason", json!({ "enum": ["disabled", "deleted"] })),
        EventType::TenantSuspended => json!({
            "type": "object",
            "required": ["tenant_id", "name", "reason"],
            "properties": { "tenant_id": tenant, "name": { "type": "string" }, "reason": { "type": "string" } },
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
        EventType::UsageAnomaly => {
            let mut data = of_quota("last_hour", amount());
            add(&mut data, "day_before", amount());
            add(&mut data, "same_hour_before", amount());
            data
        }
    }
}

fn id(prefix: &str) -> Value {
    json!({ "type": "string", "pattern": format!("^{prefix}_[0-7][0-9a-hjkmnp-tv-z]{{25}}$") })
}

fn amount() -> Value {
    json!({ "type": "string", "pattern": "^-?[0-9]+(\\.[0-9]{8})?$" })
}

/// About an account, with one field more.
fn of_quota(name: &str, field: Value) -> Value {
    let mut data = json!({
        "type": "object",
        "required": ["tenant_id", "scope", "quota", "version"],
        "properties": { "tenant_id": id("t"), "scope": scope(), "quota": numbers(), "version": { "type": "integer" } },
    });
    add(&mut data, name, field);
    data
}

/// About a key, with one field more.
fn of_key(name: &str, field: Value) -> Value {
    let text = json!({ "type": "string" });
    let mut data = json!({
        "type": "object",
        "required": ["tenant_id", "project_id", "key_id", "name", "prefix"],
        "properties": { "tenant_id": id("t"), "project_id": id("p"), "key_id": id("k"), "name": text, "prefix": text },
    });
    add(&mut data, name, field);
    data
}

fn add(data: &mut Value, name: &str, field: Value) {
    data["properties"][name] = field;
    if let Some(required) = data["required"].as_array_mut()
        && !required.contains(&json!(name))
    {
        required.push(json!(name));
    }
}

fn hours() -> Value {
    json!({
        "type": "array",
        "items": {
            "type": "object",
            "required": ["from", "calls", "charge"],
            "properties": {
                "from": { "type": "string", "format": "date-time" },
                "calls": { "type": "integer" },
                "charge": amount(),
            },
        },
    })
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
    let amount = amount();
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
