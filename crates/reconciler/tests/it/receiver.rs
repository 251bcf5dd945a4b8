//! A receiver of webhooks that behaves as the path says, and the delivery under test.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use domain::api_key::SecretKey;
use domain::destination::Allowed;
use domain::{EventId, TenantId, WebhookId};
use http::{HeaderMap, StatusCode, Uri};
use serde_json::{Value, json};
use store::seal::Sealer;
use tokio::net::TcpListener;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use tollgate_reconciler::deliver::connect::Connector;
use tollgate_reconciler::deliver::links::Links;
use tollgate_reconciler::deliver::mail::Mails;
use tollgate_reconciler::deliver::webhooks::Webhooks;
use tollgate_reconciler::deliver::{Delivery, sign::sign};

use crate::world::{Tenant, World};

pub const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// A request that came in.
#[derive(Debug, Clone)]
pub struct Seen {
    pub path: String,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Seen {
    pub fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// True where one of the signatures was made with the secret.
    pub fn is_signed_with(&self, secret: &str) -> bool {
        let timestamp = self.header("webhook-timestamp").parse().unwrap();
        let expected = sign(secret, self.header("webhook-id"), timestamp, &self.body).unwrap();
        self.header("webhook-signature").split(' ').any(|signature| signature == expected)
    }
}

#[derive(Clone, Default)]
pub struct Receiver {
    pub port: u16,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Receiver {
    pub async fn start() -> Self {
        Self::start_on("127.0.0.1:0").await
    }

    pub async fn start_on(address: &str) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let this = Self { port: listener.local_addr().unwrap().port(), seen: Arc::default() };
        let router = Router::new().fallback(answer).with_state(this.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        this
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// What came in at a path.
    pub async fn at(&self, path: &str) -> Vec<Seen> {
        self.seen.lock().await.iter().filter(|seen| seen.path == path).cloned().collect()
    }

    /// Waits until so many came in at a path.
    pub async fn wait(&self, path: &str, count: usize, within: Duration) -> Vec<Seen> {
        let waits = async {
            loop {
                let seen = self.at(path).await;
                if seen.len() >= count {
                    return seen;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        match tokio::time::timeout(within, waits).await {
            Ok(seen) => seen,
            Err(_) => panic!("{} of {count} came in at {path} within {within:?}", self.at(path).await.len()),
        }
    }
}

async fn answer(State(receiver): State<Receiver>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let path = uri.path().to_owned();
    receiver.seen.lock().await.push(Seen { path: path.clone(), headers, body });
    match path.as_str() {
        "/hang" => std::future::pending().await,
        "/fail" => (StatusCode::INTERNAL_SERVER_ERROR, "no\0 luck").into_response(),
        "/redirect" => (StatusCode::FOUND, [("location", "/ok")]).into_response(),
        "/gone" => StatusCode::GONE.into_response(),
        "/big" => Body::from(vec![b'x'; 16 << 20]).into_response(),
        _ => StatusCode::NO_CONTENT.into_response(),
    }
}

/// What is under test, with the parts that tests change.
pub struct Setup {
    pub allow: &'static str,
    pub schedule: &'static str,
    pub disable_after: Duration,
    pub within: Duration,
    pub smtp_url: Option<String>,
}

impl Default for Setup {
    fn default() -> Self {
        let disable_after = Duration::from_secs(432_000);
        Self {
            allow: "127.0.0.0/8",
            schedule: "0,200ms,200ms",
            disable_after,
            within: Duration::from_secs(2),
            smtp_url: None,
        }
    }
}

impl Setup {
    pub fn webhooks(&self, world: &World, connector: Connector) -> Webhooks {
        Webhooks {
            store: world.store.clone(),
            sealer: sealer(),
            connector,
            schedule: self.schedule.parse().unwrap(),
            disable_after: self.disable_after,
            within: self.within,
        }
    }

    /// Starts delivering; ends with the guard.
    pub fn start(&self, world: &World) -> Stop {
        let networks = self.allow.split(',').filter(|text| !text.is_empty()).map(|text| text.parse().unwrap());
        self.start_with(world, Connector::new(Allowed::new(networks.collect())).unwrap())
    }

    pub fn start_with(&self, world: &World, connector: Connector) -> Stop {
        let mails = self.smtp_url.as_ref().map(|url| {
            let from = "Tollgate <quota@example.com>";
            let links = Links { sealer: sealer(), console_url: "https://console.example.com".to_owned() };
            let schedule = self.schedule.parse().unwrap();
            Arc::new(Mails::new(world.store.clone(), url, from, links, schedule, self.within).unwrap())
        });
        let webhooks = self.webhooks(world, connector);
        let stop = CancellationToken::new();
        let delivery = Delivery::of(world.ledger.clone(), world.store.clone(), webhooks, mails);
        tokio::spawn(delivery.run(stop.clone()));
        Stop(stop)
    }
}

/// Ends the delivery when it is dropped.
pub struct Stop(CancellationToken);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

pub fn sealer() -> Sealer {
    Sealer::new(&SecretKey::from_bytes([7; 32]))
}

/// An endpoint that wants `quota.low`, and word of endpoints.
pub async fn endpoint(world: &World, tenant: Option<TenantId>, url: &str) -> WebhookId {
    let id = WebhookId::generate();
    let webhook = store::webhooks::Webhook {
        id,
        tenant_id: tenant,
        url: url.to_owned(),
        event_types: vec!["quota.low".to_owned(), "endpoint.disabled".to_owned()],
        description: String::new(),
        status: "enabled".to_owned(),
        disabled_reason: None,
        failing_since: None,
        previous_valid_until: None,
        created_at: time::OffsetDateTime::UNIX_EPOCH,
        version: 1,
    };
    let mut transaction = world.store.begin().await.unwrap();
    let sealed = sealer().seal(&id.to_string(), SECRET).unwrap();
    store::webhooks::create(&mut transaction, &webhook, &sealed).await.unwrap();
    transaction.commit().await.unwrap();
    id
}

/// The crossing of a threshold, as the record transaction writes it.
pub async fn crossing(world: &World, tenant: &Tenant) -> EventId {
    let id = EventId::generate();
    let data = json!({
        "tenant_id": tenant.id, "scope": {"kind": "tenant", "id": tenant.id, "period": null}, "threshold_percent": 90,
        "total": "100000000", "used": "90000000", "version": 7,
    });
    let sql = format!(
        "INSERT INTO outbox (event_id, type, tenant_id, scope, data) VALUES ('{}', 'quota.low', '{}', '{}', '{data}')",
        id.uuid(),
        tenant.id.uuid(),
        tenant.scopes[2]
    );
    world.database.execute(&sql).await.unwrap();
    id
}

/// The state, number of attempts and last attempt of the endpoint's only delivery.
pub async fn delivery(world: &World, webhook: WebhookId) -> (String, usize, Value) {
    let mut connection = world.store.acquire().await.unwrap();
    let all = store::webhook_deliveries::list(&mut connection, webhook, None, None, 10).await.unwrap();
    assert!(all.len() <= 1, "{} deliveries", all.len());
    let Some(one) = all.first() else { return ("not handed on".to_owned(), 0, Value::Null) };
    let attempts = one.attempts.as_array().unwrap();
    (one.state.clone(), attempts.len(), attempts.last().cloned().unwrap_or_default())
}

/// Waits until the endpoint's only delivery is in that state.
pub async fn settled(world: &World, webhook: WebhookId, state: &str) -> (usize, Value) {
    for _ in 0..500 {
        let (now, attempts, last) = delivery(world, webhook).await;
        if now == state {
            return (attempts, last);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("not {state}: {:?}", delivery(world, webhook).await)
}

pub async fn status(world: &World, webhook: WebhookId) -> (String, Option<String>) {
    let mut connection = world.store.acquire().await.unwrap();
    let webhook = store::webhooks::get(&mut connection, webhook, &store::Reach::All).await.unwrap();
    (webhook.status, webhook.disabled_reason)
}
