//! Upstream accounts.

pub mod change;
pub mod create;
pub mod delete;
pub mod health;
pub mod list;
pub mod read;
pub mod rewrap_keys;
pub mod test;

use api_types::upstream::Upstream;
use domain::UpstreamId;
use http::Uri;
use store::upstreams::SealedKey;

use crate::app::App;
use crate::error::{Error, Result};
use crate::upstreams::health::Ill;
use crate::validate::Fields;

/// An upstream as the API shows it: its key never comes back.
///
/// # Errors
/// 500 for a stored word that this version does not know.
pub fn view(upstream: store::upstreams::Upstream, ill: &Ill) -> Result<Upstream> {
    let (health, parked_until) = ill.upstream(upstream.id);
    Ok(Upstream {
        id: upstream.id,
        kind: upstream
            .kind
            .parse()
            .map_err(|_| Error::internal("an upstream's kind that this version does not know"))?,
        name: upstream.name,
        base_url: upstream.base_url,
        key_hint: upstream.key_hint,
        key_version: upstream.key_version,
        connect_timeout_ms: upstream.connect_timeout_ms,
        read_timeout_ms: upstream.read_timeout_ms,
        health,
        parked_until: parked_until.map(Into::into),
        created_at: upstream.created_at.into(),
        version: upstream.version,
    })
}

/// Refuses what is no base URL. Returns it without a trailing slash.
pub fn base_url(fields: &mut Fields, text: &str) -> String {
    let text = text.trim().trim_end_matches('/').to_owned();
    let uri: Option<Uri> = text.parse().ok();
    let ok = uri.is_some_and(|uri| {
        let plain = uri.authority().is_some_and(|authority| !authority.as_str().contains('@'));
        matches!(uri.scheme_str(), Some("http" | "https")) && plain && uri.query().is_none()
    });
    let message = "must be a URL such as https://api.openai.com/v1, without user, password and query";
    fields.check(ok && text.len() <= 2000, "base_url", "invalid", message);
    text
}

/// Refuses what can't be a provider's key: it goes into a header.
pub fn check_key(fields: &mut Fields, key: Option<&str>) {
    let ok = key.is_none_or(|key| (1..=4096).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic()));
    fields.check(ok, "api_key", "invalid", "must be 1 to 4096 printable ASCII characters without spaces");
}

/// Seals a provider's key for its upstream; the hint shows its last four characters, of a short key fewer.
///
/// # Errors
/// 500 where the cipher refuses.
pub fn seal(app: &App, id: UpstreamId, key: &str) -> Result<SealedKey> {
    let shown = if key.len() >= 16 { key.get(key.len() - 4..).unwrap_or_default() } else { "" };
    Ok(SealedKey { sealed: app.sealer().seal(&id.to_string(), key)?, hint: format!("...{shown}") })
}
