//! `credentials.json`: where everything is and how to get in, for people and for programs that use the system.

use std::path::Path;

use serde_json::{Value, json};

use super::servers::Databases;
use super::services::{metrics_url, url};
use super::state::{Demo, State, write_private};
use super::up::ADMIN_EMAIL;

/// All of it. Rewritten only when it changed.
///
/// # Errors
/// When the folder can't be written.
pub fn write(
    folder: &Path,
    state: &State,
    demo: &Demo,
    databases: &Databases,
    redis_url: &str,
) -> anyhow::Result<Value> {
    let gateways: Vec<&String> = state.processes.keys().filter(|name| name.starts_with("gateway-")).collect();
    let pid = |name: &str| state.processes.get(name).map(|process| process.pid);
    let smtp = state.ports.get("mail").map(|ports| format!("smtp://127.0.0.1:{}", ports.metrics));
    let credentials = json!({
        "gateway_url": url(state, "gateway-1"),
        "gateway_urls": gateways.iter().map(|name| url(state, name)).collect::<Vec<_>>(),
        "admin_url": url(state, "admin-api"),
        "metrics_urls": {
            "gateway": metrics_url(state, "gateway-1"),
            "gateways": gateways.iter().map(|name| metrics_url(state, name)).collect::<Vec<_>>(),
            "admin_api": metrics_url(state, "admin-api"),
            "reconciler": metrics_url(state, "reconciler"),
        },
        "redis_url": redis_url,
        "database_url": databases.service,
        "database_owner_url": databases.owner,
        "database_superuser_url": databases.superuser,
        "upstream_url": if pid("upstream").is_some() { url(state, "upstream") } else { demo.upstream_url.clone() },
        "mail_url": url(state, "mail"),
        "smtp_url": smtp,
        "admin_email": ADMIN_EMAIL,
        "admin_password": state.secrets.admin,
        "service_token": state.service_token,
        "tenant_id": demo.tenant_id,
        "project_id": demo.project_id,
        "api_key": demo.api_key,
        "model": demo.model,
        "pids": {
            "gateways": gateways.iter().filter_map(|name| pid(name)).collect::<Vec<_>>(),
            "admin_api": pid("admin-api"),
            "reconciler": pid("reconciler"),
            "redis": pid("redis"),
            "postgres": pid("postgres"),
            "upstream": pid("upstream"),
            "mail": pid("mail"),
        },
    });
    let path = folder.join("credentials.json");
    let text = format!("{}\n", serde_json::to_string_pretty(&credentials)?);
    if std::fs::read_to_string(&path).ok().as_deref() != Some(text.as_str()) {
        write_private(&path, &text)?;
    }
    Ok(credentials)
}
