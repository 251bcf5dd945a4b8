//! Serves the console from files inside this binary: pre-compressed, hashed names cached for good, a strict content
//! security policy, and the page itself for every address that is a page of the console.
//!
//! `cargo xtask ui` makes the files. Without them this crate still builds, and the console's place says how to build it.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use http::header::{
    ACCEPT_ENCODING, ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderName,
    IF_NONE_MATCH, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use rust_embed::RustEmbed;
use sha2::{Digest as _, Sha256};

#[derive(RustEmbed)]
#[folder = "../admin-ui/dist"]
#[allow_missing = true]
struct Dist;

/// Scripts and styles from here alone, none inline; WebAssembly may be compiled; calls go to this origin alone.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
const HTML: &str = "text/html; charset=utf-8";
const FOREVER: &str = "public, max-age=31536000, immutable";
/// Kept, but asked for each time: the page names the hashed files of this version.
const ASK: &str = "no-cache";

/// Shown where the console was not built.
const NOT_BUILT: &str = "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Tollgate</title>\n\
    <h1>The console is not part of this binary</h1>\n\
    <p>Build it with <code>cargo xtask ui</code>, then build the admin API again. The API itself works: see \
    <a href=\"/api/v1/openapi.json\">/api/v1/openapi.json</a>.</p>\n</html>\n";

/// The page, made once: with the gateway's address for the snippets that people copy.
#[derive(Clone)]
struct Page(Arc<Index>);

struct Index {
    html: Vec<u8>,
    etag: HeaderValue,
    status: StatusCode,
}

impl Page {
    fn new(gateway_url: Option<&str>) -> Self {
        let (html, status) = match Dist::get("index.html") {
            Some(file) => (with_gateway(&file.data, gateway_url), StatusCode::OK),
            None => (NOT_BUILT.as_bytes().to_vec(), StatusCode::SERVICE_UNAVAILABLE),
        };
        let etag = etag(Sha256::digest(&html).as_slice());
        Self(Arc::new(Index { html, etag, status }))
    }

    fn answer(&self, headers: &HeaderMap) -> Response {
        let index = &*self.0;
        if index.status == StatusCode::OK && headers.get(IF_NONE_MATCH) == Some(&index.etag) {
            return (StatusCode::NOT_MODIFIED, [(ETAG, index.etag.clone())]).into_response();
        }
        let headers = [
            (CONTENT_TYPE, HeaderValue::from_static(HTML)),
            (CACHE_CONTROL, HeaderValue::from_static(ASK)),
            (ETAG, index.etag.clone()),
        ];
        (index.status, headers, index.html.clone()).into_response()
    }
}

/// The console's routes. `gateway_url` is where applications reach the gateway; unset, the console supposes the gateway's
/// usual port beside itself.
///
/// They take every address that no other route has. Addresses under `/api` are not the console's: they answer 404 without
/// a page, so that a mistyped path of the API never looks like a success.
pub fn routes(gateway_url: Option<&str>) -> Router {
    Router::new()
        .route("/", get(index))
        .route("/{*path}", any(file))
        .with_state(Page::new(gateway_url))
        .layer(axum::middleware::map_response(guard))
}

async fn index(State(page): State<Page>, headers: HeaderMap) -> Response {
    page.answer(&headers)
}

async fn file(State(page): State<Page>, request: Request) -> Response {
    let path = request.uri().path().trim_start_matches('/');
    if path == "api" || path.starts_with("api/") {
        return StatusCode::NOT_FOUND.into_response();
    }
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, HeaderValue::from_static("GET, HEAD"))]).into_response();
    }
    match asset(path, request.headers()) {
        Some(answer) => answer,
        // A file of another version: a page in its place would be run as a script.
        None if path.starts_with("assets/") => StatusCode::NOT_FOUND.into_response(),
        None => page.answer(request.headers()),
    }
}

/// A hashed file, in the best encoding that the client takes.
fn asset(path: &str, headers: &HeaderMap) -> Option<Response> {
    let is_variant = path.rsplit_once('.').is_some_and(|(_, suffix)| suffix == "br" || suffix == "gz");
    if !path.starts_with("assets/") || is_variant {
        return None;
    }
    let encoding =
        Encoding::best(headers).filter(|encoding| Dist::get(&format!("{path}{}", encoding.suffix())).is_some());
    let file = Dist::get(&format!("{path}{}", encoding.map_or("", Encoding::suffix)))?;
    let content_type = HeaderValue::from_static(content_type(path));
    let mut answer = (
        [
            (CONTENT_TYPE, content_type),
            (CACHE_CONTROL, HeaderValue::from_static(FOREVER)),
            (VARY, HeaderValue::from_static("accept-encoding")),
        ],
        file.data.into_owned(),
    )
        .into_response();
    if let Some(encoding) = encoding {
        answer.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static(encoding.token()));
    }
    Some(answer)
}

/// Headers on everything the console serves.
async fn guard(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, suffix)| suffix) {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("svg") => "image/svg+xml",
        Some("html") => HTML,
        _ => "application/octet-stream",
    }
}

fn etag(hash: &[u8]) -> HeaderValue {
    let text: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    // Hexadecimal digits between quotes are always a header value.
    HeaderValue::from_str(&format!("\"{text}\"")).unwrap_or_else(|_| HeaderValue::from_static("\"0\""))
}

/// Writes the gateway's address into the page's `meta` element.
fn with_gateway(html: &[u8], gateway_url: Option<&str>) -> Vec<u8> {
    const EMPTY: &str = "name=\"tollgate-gateway\" content=\"\"";
    let Some(url) = gateway_url else { return html.to_vec() };
    let escaped = url.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
    let filled = format!("name=\"tollgate-gateway\" content=\"{escaped}\"");
    String::from_utf8_lossy(html).replace(EMPTY, &filled).into_bytes()
}

/// A form in which files lie ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Brotli,
    Gzip,
}

impl Encoding {
    const fn suffix(self) -> &'static str {
        match self {
            Self::Brotli => ".br",
            Self::Gzip => ".gz",
        }
    }

    const fn token(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Gzip => "gzip",
        }
    }

    /// The best one that the client takes: brotli before gzip where it likes both the same; one refused by `q=0` is not taken.
    fn best(headers: &HeaderMap) -> Option<Self> {
        let accepted = headers
            .get_all(ACCEPT_ENCODING)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|text| text.split(','));
        let mut best: Option<(u32, Self)> = None;
        for item in accepted {
            let (token, weight) = weighted(item);
            let encoding = match token {
                "br" => Self::Brotli,
                "gzip" | "x-gzip" => Self::Gzip,
                _ => continue,
            };
            let better = match best {
                None => true,
                Some((other, _)) if weight == other => encoding == Self::Brotli,
                Some((other, _)) => weight > other,
            };
            if weight > 0 && better {
                best = Some((weight, encoding));
            }
        }
        best.map(|(_, encoding)| encoding)
    }
}

/// An item of `Accept-Encoding` and its weight in thousandths; without one, or with one that can't be read, 1000.
fn weighted(item: &str) -> (&str, u32) {
    let (token, parameters) = item.split_once(';').unwrap_or((item, ""));
    let weight = parameters.trim().strip_prefix("q=").map_or(1000, |text| {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let thousandths: String = fraction.chars().chain("000".chars()).take(3).collect();
        match (whole, thousandths.parse::<u32>()) {
            ("0", Ok(thousandths)) => thousandths,
            _ => 1000,
        }
    });
    (token.trim(), weight)
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use tower::ServiceExt as _;

    use super::*;

    async fn ask(method: &str, path: &str, encoding: &str) -> Response {
        let request =
            Request::builder().method(method).uri(path).header(ACCEPT_ENCODING, encoding).body(Body::empty()).unwrap();
        routes(Some("https://gateway.example/\"<x>")).oneshot(request).await.unwrap()
    }

    #[tokio::test]
    async fn every_answer_carries_the_policy() {
        for path in ["/", "/tenants/t_1?x=1", "/assets/nothing.js", "/api/v1/nothing"] {
            let answer = ask("GET", path, "").await;
            let policy = answer.headers()[CONTENT_SECURITY_POLICY].to_str().unwrap();
            assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe-inline"), "{policy}");
            assert!(!policy.contains("'unsafe-eval'"), "{policy}");
            assert_eq!(answer.headers()[X_CONTENT_TYPE_OPTIONS], "nosniff", "{path}");
        }
    }

    #[tokio::test]
    async fn paths_of_the_api_and_lost_files_are_never_the_page() {
        for path in ["/api/v1/nothing", "/api", "/assets/console-0000.js", "/assets/../index.html.br"] {
            let answer = ask("GET", path, "br").await;
            let is_page = answer.headers().get(CONTENT_TYPE).is_some_and(|value| value == HTML);
            assert!(!is_page && answer.status() == StatusCode::NOT_FOUND, "{path}: {}", answer.status());
        }
        assert_eq!(ask("POST", "/tenants", "").await.status(), StatusCode::METHOD_NOT_ALLOWED);
    }

    #[test]
    fn a_console_that_was_built_is_in_the_binary() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../admin-ui/dist/index.html");
        assert_eq!(Dist::get("index.html").is_some(), std::path::Path::new(page).exists());
    }

    #[tokio::test]
    async fn addresses_of_pages_answer_the_page() {
        let built = Dist::get("index.html").is_some();
        let answer = ask("GET", "/tenants/t_1", "br, gzip").await;
        assert_eq!(answer.headers()[CONTENT_TYPE], HTML);
        assert_eq!(answer.status(), if built { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE });
        let text = String::from_utf8(to_bytes(answer.into_body(), 1 << 20).await.unwrap().to_vec()).unwrap();
        if built {
            assert!(text.contains("content=\"https://gateway.example/&quot;&lt;x>\""), "{text}");
            assert!(!text.contains("<script>"), "{text}");
        } else {
            assert!(text.contains("cargo xtask ui"), "{text}");
        }
    }

    #[tokio::test]
    async fn files_are_sent_compressed_and_kept_for_good() {
        let Some(path) = Dist::iter().find(|path| path.ends_with(".wasm")) else { return };
        for (accepted, sent) in
            [("gzip, br", Some("br")), ("gzip", Some("gzip")), ("br;q=0, gzip;q=0.5", Some("gzip")), ("", None)]
        {
            let answer = ask("GET", &format!("/{path}"), accepted).await;
            assert_eq!(answer.status(), StatusCode::OK);
            assert_eq!(answer.headers()[CONTENT_TYPE], "application/wasm");
            assert_eq!(answer.headers()[CACHE_CONTROL], FOREVER);
            assert_eq!(answer.headers().get(CONTENT_ENCODING).map(|value| value.to_str().unwrap()), sent, "{accepted}");
        }
    }

    #[test]
    fn encodings_are_weighed() {
        let best = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_str(text).unwrap());
            Encoding::best(&headers)
        };
        assert_eq!(best("gzip, deflate, br, zstd"), Some(Encoding::Brotli));
        assert_eq!(best("br;q=0.2, gzip;q=0.8"), Some(Encoding::Gzip));
        assert_eq!(best("br;q=0, gzip;q=0"), None);
        assert_eq!(best("br;q=0.000"), None);
        assert_eq!(best("identity"), None);
        assert_eq!(best("GZIP"), None);
    }
}
