//! Webhook endpoints: where systems are told of events. What is sent, and when, is the reconciler's.

pub mod change;
pub mod create;
pub mod delete;
pub mod deliveries;
pub mod enable;
pub mod list;
pub mod read;
pub mod redeliver;
pub mod rotate_secret;
pub mod test;

use api_types::webhook::{EventType, Webhook};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::WebhookId;
use http::Uri;

use crate::app::App;
use crate::error::{Error, Result};
use crate::validate::Fields;

/// An endpoint as the API shows it, without its secret.
///
/// # Errors
/// 500 for a stored word that this version does not know.
pub fn view(webhook: store::webhooks::Webhook) -> Result<Webhook> {
    let unknown = |_| Error::internal("a word of a webhook endpoint that this version does not know");
    let event_types = webhook.event_types.iter().map(|word| word.parse().map_err(unknown));
    Ok(Webhook {
        id: webhook.id,
        secret: None,
        tenant_id: webhook.tenant_id,
        url: webhook.url,
        event_types: event_types.collect::<Result<_>>()?,
        description: webhook.description,
        status: webhook.status.parse().map_err(unknown)?,
        disabled_reason: webhook.disabled_reason.map(|word| word.parse().map_err(unknown)).transpose()?,
        failing_since: webhook.failing_since.map(Into::into),
        old_valid_until: webhook.previous_valid_until.map(Into::into),
        created_at: webhook.created_at.into(),
        version: webhook.version,
    })
}

/// Refuses what is no URL to post to. Which addresses are connected to is decided at each attempt: names change theirs.
pub fn url(fields: &mut Fields, text: &str) -> String {
    let text = text.trim().to_owned();
    let uri: Option<Uri> = text.parse().ok();
    let ok = uri.is_some_and(|uri| {
        let host = uri.host().unwrap_or_default();
        let plain = uri.authority().is_some_and(|authority| !authority.as_str().contains('@'));
        let loopback = matches!(host, "localhost" | "[::1]") || host.starts_with("127.");
        let scheme = uri.scheme_str() == Some("https") || (uri.scheme_str() == Some("http") && loopback);
        scheme && plain && !host.is_empty()
    });
    let message =
        "must be a URL such as https://example.com/tollgate, without user and password; http for loopback only";
    fields.check(ok && text.len() <= 2000 && !text.contains('#'), "url", "invalid", message);
    text
}

/// The words of some types, each once.
pub fn event_types(fields: &mut Fields, types: &[EventType]) -> Vec<String> {
    fields.check(!types.is_empty(), "event_types", "required", "name at least one type; GET /event-types lists them");
    let mut words: Vec<String> = types.iter().map(ToString::to_string).collect();
    words.sort();
    words.dedup();
    words
}

/// A new secret, and the same sealed for its endpoint.
///
/// # Errors
/// 500 where the cipher refuses.
pub fn new_secret(app: &App, id: WebhookId) -> Result<(String, Vec<u8>)> {
    let random: [u8; 32] = rand::random();
    let secret = format!("whsec_{}", STANDARD.encode(random));
    let sealed = app.sealer().seal(&id.to_string(), &secret)?;
    Ok((secret, sealed))
}

/// An audit entry of the endpoint's tenant, where it has one.
pub fn of_tenant(audit: crate::auth::Audit, webhook: &Webhook) -> crate::auth::Audit {
    match webhook.tenant_id {
        Some(tenant) => audit.of(tenant),
        None => audit,
    }
}
