//! Changes by cookie are taken from our own pages alone: `SameSite=Strict` cookies, a header that forms can't send,
//! JSON bodies only, and the browser's `Origin`.

use http::HeaderMap;
use http::uri::Authority;

use crate::app::App;
use crate::call::header_text;
use crate::error::{Error, Result};

/// What every changing call by cookie carries, with the value `1`.
pub const HEADER: &str = "x-tollgate-csrf";

/// Tests header and origin.
///
/// # Errors
/// 403.
pub fn check(app: &App, headers: &HeaderMap) -> Result<()> {
    if header_text(headers, HEADER) != "1" {
        return Err(Error::forbidden("changes by cookie need the header X-Tollgate-Csrf: 1"));
    }
    check_origin(app, headers)
}

/// Tests the origin, where the client is a browser that sends one.
///
/// # Errors
/// 403.
pub fn check_origin(app: &App, headers: &HeaderMap) -> Result<()> {
    if !headers.contains_key("origin") {
        return Ok(());
    }
    let origin = header_text(headers, "origin").to_lowercase();
    let host = header_text(headers, "host").to_lowercase();
    if is_ours(&origin, &host, app.config().public_url.as_deref()) {
        return Ok(());
    }
    Err(Error::forbidden(format!(
        "the origin {origin} is not this console's; set TOLLGATE_PUBLIC_URL to where browsers reach it"
    )))
}

/// With a public URL, that one alone (or the same port on the loopback, where that is one); else the address asked.
fn is_ours(origin: &str, host: &str, public_url: Option<&str>) -> bool {
    let Some((scheme, authority)) = origin.split_once("://") else { return false };
    if !matches!(scheme, "http" | "https") {
        return false;
    }
    let Some(public) = public_url else { return authority == host };
    if origin == public {
        return true;
    }
    let loopback_port = |authority: &str| {
        let authority: Authority = authority.parse().ok()?;
        matches!(authority.host(), "localhost" | "127.0.0.1" | "[::1]").then(|| authority.port_u16())
    };
    let Some((public_scheme, public_authority)) = public.split_once("://") else { return false };
    let port = loopback_port(authority);
    scheme == public_scheme && port.is_some() && port == loopback_port(public_authority)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_origin_is_ours() {
        for (origin, host, public, ours) in [
            ("https://a.example", "a.example", None, true),
            ("https://evil.example", "a.example", None, false),
            ("null", "a.example", None, false),
            ("file://a.example", "a.example", None, false),
            ("https://a.example", "other", Some("https://a.example"), true),
            ("http://a.example", "a.example", Some("https://a.example"), false),
            ("https://b.example", "b.example", Some("https://a.example"), false),
            ("http://localhost:8081", "localhost:8081", Some("http://127.0.0.1:8081"), true),
            ("http://[::1]:8081", "[::1]:8081", Some("http://127.0.0.1:8081"), true),
            ("http://localhost:9", "localhost:9", Some("http://127.0.0.1:8081"), false),
            ("http://localhost:8081", "localhost:8081", Some("http://a.example:8081"), false),
            ("http://localhost.evil:8081", "x", Some("http://127.0.0.1:8081"), false),
        ] {
            assert_eq!(is_ours(origin, host, public), ours, "{origin} asked at {host}, public {public:?}");
        }
    }
}
