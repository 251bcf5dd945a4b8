//! Demo data: one of each, so that the first call can be made at once. Made through the admin API, as a newcomer would.

use anyhow::Context;
use serde_json::{Value, json};

use super::admin::{Admin, text};
use super::state::Demo;
use crate::say;

/// Where calls go to.
#[derive(Debug, Clone)]
pub struct Upstream {
    /// With the version's path: `https://api.openai.com/v1`.
    pub base_url: String,
    /// The provider's key.
    pub key: String,
    /// The provider's name of the model.
    pub model: String,
}

/// Priced by tokens.
const CHAT: &str = "demo-chat";
/// Priced by request.
const FIXED: &str = "demo-fixed";

/// Makes tenant, project, key, upstream, models, prices and targets.
///
/// Safe to repeat after a failure half-way: what exists under its name is used.
///
/// # Errors
/// When the admin API refuses something.
pub fn create(admin: &Admin<'_>, upstream: &Upstream) -> anyhow::Result<Demo> {
    say::step("creating demo data");
    let upstream_id = upstream_id(admin, upstream)?;
    let by_tokens = json!({"input": "1.00", "cached_input": "0.10", "output": "4.00"});
    let by_request = json!({"per_request": "0.10"});
    for (name, price) in [(CHAT, by_tokens), (FIXED, by_request)] {
        model(admin, name, &price, &upstream_id, upstream).with_context(|| format!("the demo model {name}"))?;
    }
    let tenant_id = tenant(admin)?;
    let project_id = project(admin, &tenant_id)?;
    // A key's secret is shown once: a second run makes a second key.
    let key = admin.post(&format!("/projects/{project_id}/keys"), &json!({"name": "demo"}))?;
    Ok(Demo {
        tenant_id,
        project_id,
        api_key: text(&key, "secret")?,
        model: CHAT.into(),
        upstream_url: upstream.base_url.clone(),
    })
}

/// Another address than at the last start: the demo models are to go there.
fn upstream_id(admin: &Admin<'_>, upstream: &Upstream) -> anyhow::Result<String> {
    let have = admin.get("/upstreams?limit=200")?;
    let same = |item: &&Value| item["base_url"] == upstream.base_url.as_str();
    if let Some(found) = items(&have).iter().find(same) {
        return text(found, "id");
    }
    let name = match items(&have).len() {
        0 => "demo".to_owned(),
        count => format!("demo {}", count + 1),
    };
    let body = json!({
        "name": name, "kind": "openai", "base_url": upstream.base_url, "api_key": upstream.key,
        "connect_timeout_ms": 5000, "read_timeout_ms": 120_000,
    });
    text(&admin.post("/upstreams", &body)?, "id")
}

fn model(admin: &Admin<'_>, name: &str, price: &Value, upstream_id: &str, upstream: &Upstream) -> anyhow::Result<()> {
    let have = admin.get("/models?limit=200")?;
    let id = match items(&have).iter().find(|item| item["name"] == name) {
        Some(found) => text(found, "id")?,
        None => {
            let body = json!({
                "name": name, "mode": "chat", "tokenizer": "o200k_base", "context_window": 128_000,
                "max_output_tokens": 16_384, "freeze_output_tokens": 1000,
            });
            text(&admin.post("/models", &body)?, "id")?
        }
    };
    if items(&admin.get(&format!("/models/{id}/prices?limit=1"))?).is_empty() {
        let mut body = price.clone();
        body["valid_from"] = json!("2025-01-01T00:00:00Z");
        admin.post(&format!("/models/{id}/prices"), &body)?;
    }
    let targets = admin.get(&format!("/models/{id}/targets?limit=200"))?;
    if !items(&targets).iter().any(|item| item["upstream_id"] == upstream_id) {
        let body = json!({
            "upstream_id": upstream_id, "upstream_model": upstream.model, "dialects": ["openai"],
            "priority": 0, "weight": 1, "enabled": true,
        });
        admin.post(&format!("/models/{id}/targets"), &body)?;
    }
    Ok(())
}

fn tenant(admin: &Admin<'_>) -> anyhow::Result<String> {
    let have = admin.get("/tenants?external_id=demo")?;
    if let Some(found) = items(&have).first() {
        return text(found, "id");
    }
    let body = json!({
        "name": "Demo", "external_id": "demo", "unit": "credit", "time_zone": "UTC", "period": {"kind": "month"},
        "plan": {"amount": "100.00"},
    });
    text(&admin.post_once("/tenants", "demo-tenant", &body)?, "id")
}

fn project(admin: &Admin<'_>, tenant_id: &str) -> anyhow::Result<String> {
    let path = format!("/tenants/{tenant_id}/projects");
    let have = admin.get(&path)?;
    if let Some(found) = items(&have).iter().find(|item| item["name"] == "demo") {
        return text(found, "id");
    }
    text(&admin.post(&path, &json!({"name": "demo"}))?, "id")
}

fn items(page: &Value) -> &[Value] {
    page["items"].as_array().map(Vec::as_slice).unwrap_or_default()
}
