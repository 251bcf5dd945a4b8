//! A running service of its own per test, people and tokens of every kind, and a client.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};

use clap::Parser as _;
use domain::TenantId;
use domain::api_key::{KeyKind, KeyText, SecretKey};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use store::service_tokens::NewServiceToken;
use store::users::NewUser;
use testkit::postgres::Database;
use testkit::redis::Redis;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tollgate_admin_api::config::Config;

pub const PASSWORD: &str = "correct horse battery";
const SECRET: [u8; 32] = *b"0123456789abcdef0123456789abcdef";

/// Who makes a call.
#[derive(Debug, Clone)]
pub enum Who {
    Nobody,
    /// `Authorization: Bearer ...`
    Bearer(String),
    /// A session's cookie, with the CSRF header.
    Cookie(String),
    /// A session's cookie without it.
    BareCookie(String),
}

pub struct World {
    pub database: Database,
    pub redis: Redis,
    pub url: String,
    pub store: store::Store,
    client: reqwest::Client,
    stop: CancellationToken,
    emails: AtomicU32,
    /// A service token that may do everything that service tokens may.
    pub system: Who,
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

pub struct Answer {
    pub status: StatusCode,
    pub headers: reqwest::header::HeaderMap,
    pub body: Value,
}

impl Answer {
    /// The answer, if it has that status.
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status.as_u16(), status, "{}", self.body);
        self
    }

    /// A problem document with that status and code.
    pub fn refused(self, status: u16, code: &str) -> Self {
        assert_eq!((self.status.as_u16(), self.body["code"].as_str()), (status, Some(code)), "{}", self.body);
        assert_eq!(self.headers["content-type"], "application/problem+json");
        assert_eq!(self.body["request_id"].as_str(), self.headers["x-request-id"].to_str().ok());
        self
    }

    /// A 422 with that field and code among its errors.
    pub fn refused_field(self, field: &str, code: &str) -> Self {
        let this = self.refused(422, "invalid_field");
        let errors = this.body["errors"].as_array().expect("errors");
        assert!(
            errors.iter().any(|error| error["field"] == field && error["code"] == code),
            "{field} {code}: {}",
            this.body
        );
        this
    }

    pub fn id(&self) -> String {
        self.body["id"].as_str().expect("an id").to_owned()
    }

    /// The value of a cookie that was set.
    pub fn cookie(&self, name: &str) -> String {
        let lines = self.headers.get_all("set-cookie").iter().map(|line| line.to_str().unwrap());
        let value = lines.filter_map(|line| line.split(';').next()?.strip_prefix(name)?.strip_prefix('=')).next();
        value.expect("the cookie").to_owned()
    }
}

pub fn secret_key() -> SecretKey {
    SecretKey::from_bytes(SECRET)
}

impl World {
    pub async fn start() -> Self {
        Self::start_with(&[]).await
    }

    pub async fn start_with(arguments: &[&str]) -> Self {
        let (database, redis) = tokio::join!(Database::create(), Redis::start());
        let (database, redis) = (database.unwrap(), redis.unwrap());
        let key = secret_key().to_base64();
        let (database_url, redis_url) = (database.app_url(), redis.url());
        let gateway = crate::playground::gateway().await;
        let mut base = vec!["x", "--database-url", &database_url, "--redis-url", &redis_url, "--secret-key", &key];
        if !arguments.contains(&"--gateway-internal-url") {
            base.extend(["--gateway-internal-url", &gateway]);
        }
        let config = Config::try_parse_from(base.iter().chain(arguments)).unwrap();
        let app = tollgate_admin_api::connect(config).await.unwrap();
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let stop = CancellationToken::new();
        let router = tollgate_admin_api::router::router(app).unwrap();
        tokio::spawn(tollgate_admin_api::server::serve(listener, router, stop.clone()));
        let store = store::Store::connect(&store::Config::new(database.app_url(), "tests")).await.unwrap();
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            // Below the server's 10 s, so that no call goes out on a connection that is being closed.
            .pool_idle_timeout(std::time::Duration::from_secs(5))
            .build()
            .unwrap();
        let emails = AtomicU32::new(0);
        let mut world = Self { database, redis, url, store, client, stop, emails, system: Who::Nobody };
        world.system = world.token(&all_scopes(), None).await;
        world
    }

    /// A service token.
    pub async fn token(&self, scopes: &[String], tenants: Option<&[TenantId]>) -> Who {
        let secret = KeyText::generate(KeyKind::Service, &random());
        let hash = secret.hash(&secret_key());
        let new = NewServiceToken {
            name: "test",
            secret_hash: &hash,
            prefix: secret.shown(),
            scopes,
            tenant_ids: tenants,
            expires_at: None,
        };
        let mut tx = self.store.begin().await.unwrap();
        store::service_tokens::create(&mut tx, &new).await.unwrap();
        tx.commit().await.unwrap();
        Who::Bearer(secret.expose().to_owned())
    }

    /// A person; returns the e-mail address.
    pub async fn person(&self, role: &str, tenant_id: Option<TenantId>) -> String {
        let email = format!("{role}{}@example.com", self.emails.fetch_add(1, Ordering::Relaxed));
        static HASH: std::sync::LazyLock<String> =
            std::sync::LazyLock::new(|| store::password::hash(PASSWORD).unwrap());
        let new = NewUser { email: &email, name: role, role, tenant_id, password_hash: &HASH, locale: "en" };
        let mut tx = self.store.begin().await.unwrap();
        store::users::create(&mut tx, &new).await.unwrap();
        tx.commit().await.unwrap();
        email
    }

    /// Signs in.
    pub async fn sign_in(&self, email: &str) -> Answer {
        self.post("/session", &Who::Nobody, json!({"email": email, "password": PASSWORD})).await
    }

    /// A signed-in person.
    pub async fn signed_in(&self, role: &str, tenant_id: Option<TenantId>) -> Who {
        let email = self.person(role, tenant_id).await;
        Who::Cookie(self.sign_in(&email).await.expect(200).cookie("__Host-tollgate_access"))
    }

    pub fn request(&self, method: Method, path: &str, who: &Who) -> reqwest::RequestBuilder {
        let request = self.client.request(method, format!("{}/api/v1{path}", self.url));
        match who {
            Who::Nobody => request,
            Who::Bearer(token) => request.bearer_auth(token),
            Who::Cookie(token) => {
                request.header("cookie", format!("__Host-tollgate_access={token}")).header("x-tollgate-csrf", "1")
            }
            Who::BareCookie(token) => request.header("cookie", format!("__Host-tollgate_access={token}")),
        }
    }

    pub async fn send(&self, request: reqwest::RequestBuilder) -> Answer {
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        let bytes = response.bytes().await.unwrap();
        let body = serde_json::from_slice(&bytes)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).into_owned()));
        Answer { status, headers, body }
    }

    pub async fn get(&self, path: &str, who: &Who) -> Answer {
        self.send(self.request(Method::GET, path, who)).await
    }

    /// POST with a fresh idempotency key.
    pub async fn post(&self, path: &str, who: &Who, body: Value) -> Answer {
        self.post_with_key(path, who, body, &uuid::Uuid::now_v7().to_string()).await
    }

    pub async fn post_with_key(&self, path: &str, who: &Who, body: Value, key: &str) -> Answer {
        self.send(self.request(Method::POST, path, who).header("idempotency-key", key).json(&body)).await
    }

    pub async fn patch(&self, path: &str, who: &Who, if_match: &str, body: Value) -> Answer {
        self.send(self.request(Method::PATCH, path, who).header("if-match", if_match).json(&body)).await
    }

    pub async fn delete(&self, path: &str, who: &Who) -> Answer {
        self.send(self.request(Method::DELETE, path, who)).await
    }

    /// A tenant with a plan of that many credits.
    pub async fn tenant(&self, name: &str, plan: &str) -> Answer {
        self.post("/tenants", &self.system, json!({"name": name, "plan": {"amount": plan}})).await.expect(201)
    }
}

pub fn all_scopes() -> Vec<String> {
    api_types::service_token::TokenScope::ALL.iter().map(ToString::to_string).collect()
}

fn random() -> [u8; 32] {
    let (a, b) = (uuid::Uuid::now_v7().into_bytes(), uuid::Uuid::now_v7().into_bytes());
    std::array::from_fn(|index| if index < 16 { a[index] } else { b[index - 16] })
}
