//! A whole system for one test: servers, one tenant with a project and a key, models, a gateway.

use std::net::SocketAddr;
use std::time::Duration;

use clap::Parser;
use domain::api_key::{KeyKind, KeyText, SecretKey};
use domain::{Amount, GrantId, KeyId, ModelId, ProjectId, Scope, TargetId, TenantId, Unit, UpstreamId};
use serde_json::{Value, json};
use store::grants::NewGrant;
use store::seal::Sealer;
use testkit::postgres::Database;
use testkit::redis::Redis;
use tollgate_gateway::config::Config;
use tollgate_gateway::server::Server;
use tollgate_sim_upstream::{Entry, Running};
use uuid::Uuid;

/// The key with which the gateway must call the provider.
pub const PROVIDER_KEY: &str = "sk-provider-secret-0001";

pub struct House {
    pub redis: Redis,
    pub database: Database,
    /// Where the gateways reach the database.
    pub database_url: String,
    pub sim: Running,
    pub gateway: Option<Server>,
    pub url: String,
    pub key: String,
    pub key_id: KeyId,
    pub project_id: ProjectId,
    pub tenant_id: TenantId,
    pub secret: SecretKey,
    pub http: reqwest::Client,
    /// How long the gateway waits for Redis, where that is not the usual time: for tests that keep their own process, and so
    /// everything in it, busier than any gateway is.
    pub patience: Option<Duration>,
}

/// A model to be made.
pub struct NewModel<'a> {
    pub name: &'a str,
    pub prices: Value,
    pub tokenizer: &'a str,
    pub max_output_tokens: i64,
    pub freeze_output_tokens: i64,
    pub hidden_reasoning: bool,
    pub mode: &'a str,
    pub upstream_model: &'a str,
}

impl Default for NewModel<'_> {
    fn default() -> Self {
        Self {
            name: "sim-small",
            prices: json!({"input": "1", "output": "2"}),
            tokenizer: "o200k_base",
            max_output_tokens: 4_000,
            freeze_output_tokens: 1_000,
            hidden_reasoning: false,
            mode: "chat",
            upstream_model: "sim-small",
        }
    }
}

impl House {
    /// With a grant of `credits`, the model `sim-small` (1 and 2 credits per million), and `fixed` (0.10 a request).
    pub async fn with(credits: &str) -> Self {
        Self::on(Database::create().await.unwrap(), None, credits).await
    }

    /// On a database of its own, reached at another address where one is given.
    pub async fn on(database: Database, proxy: Option<SocketAddr>, credits: &str) -> Self {
        let redis = Redis::start().await.unwrap();
        let mut database_url = database.app_url();
        if let Some(proxy) = proxy {
            let (_, rest) = database_url.split_once('@').unwrap();
            let address = rest.split_once('/').unwrap().0.to_owned();
            database_url = database_url.replace(&address, &proxy.to_string());
        }
        let sim = tollgate_sim_upstream::Config { api_key: Some(PROVIDER_KEY.to_owned()), ..Default::default() };
        let sim = Running::start(sim).await.unwrap();
        let secret = SecretKey::from_bytes(std::array::from_fn(|index| u8::try_from(index).unwrap()));
        let key = KeyText::generate(KeyKind::Api, &[7; 32]);
        let mut house = Self {
            redis,
            database,
            database_url,
            sim,
            gateway: None,
            url: String::new(),
            key: key.expose().to_owned(),
            key_id: KeyId::generate(),
            project_id: ProjectId::generate(),
            tenant_id: TenantId::generate(),
            secret,
            http: reqwest::Client::new(),
            patience: None,
        };
        house.make_tenant(&key, credits).await;
        let upstream = house.make_upstream("sim", &house.sim.url()).await;
        house.make_model(NewModel::default(), &[upstream]).await;
        house
            .make_model(
                NewModel { name: "fixed", prices: json!({"per_request": "0.10"}), ..NewModel::default() },
                &[upstream],
            )
            .await;
        house.start_gateway(&[]).await;
        house
    }

    async fn make_tenant(&self, key: &KeyText, credits: &str) {
        let (tenant, project, id) = (self.tenant_id.uuid(), self.project_id.uuid(), self.key_id.uuid());
        let (hash, shown) = (hex(&key.hash(&self.secret)), key.shown());
        self.sql(&format!(
            "INSERT INTO tenants (id, name, unit, time_zone, period_kind) VALUES ('{tenant}', 'T', 'credit', 'UTC', 'month');
             INSERT INTO projects (id, tenant_id, name) VALUES ('{project}', '{tenant}', 'P');
             INSERT INTO api_keys (id, tenant_id, project_id, name, secret_hash, prefix)
                VALUES ('{id}', '{tenant}', '{project}', 'K', '\\x{hash}', '{shown}');
             INSERT INTO accounts (scope, tenant_id, level, total) VALUES ('{}', '{tenant}', 'tenant', 0)",
            Scope::Tenant(self.tenant_id)
        ))
        .await;
        self.grant(credits).await;
    }

    pub async fn grant(&self, credits: &str) {
        let store = store::Store::connect(&store::Config::new(self.database.owner_url(), "test")).await.unwrap();
        let mut transaction = store.begin().await.unwrap();
        let grant = NewGrant {
            id: GrantId::generate(),
            tenant_id: self.tenant_id,
            kind: "gift".to_owned(),
            amount: Amount::parse(credits, Unit::Credit).unwrap(),
            priority: 10,
            starts_at: None,
            ends_at: None,
            note: String::new(),
            actor: "test".to_owned(),
        };
        store::grants::add(&mut transaction, &grant).await.unwrap();
        transaction.commit().await.unwrap();
    }

    pub async fn make_upstream(&self, name: &str, url: &str) -> UpstreamId {
        let id = UpstreamId::generate();
        let sealed = hex(&Sealer::new(&self.secret).seal(&id.to_string(), PROVIDER_KEY).unwrap());
        let uuid = id.uuid();
        self.sql(&format!(
            "INSERT INTO upstreams (id, name, kind, base_url, sealed_key, connect_timeout_ms, read_timeout_ms)
             VALUES ('{uuid}', '{name}', 'openai', '{url}', '\\x{sealed}', 1000, 3000)"
        ))
        .await;
        id
    }

    /// Makes a model whose targets are tried in the order given.
    pub async fn make_model(&self, model: NewModel<'_>, upstreams: &[UpstreamId]) {
        let id = ModelId::generate().uuid();
        let NewModel { name, prices, tokenizer, hidden_reasoning, mode, upstream_model, .. } = model;
        let NewModel { max_output_tokens, freeze_output_tokens, .. } = model;
        let price = |kind: &str| prices[kind].as_str().map_or_else(|| "NULL".to_owned(), str::to_owned);
        let kinds = "input, output, audio_input, audio_output, image, per_request";
        let mut sql = format!(
            "INSERT INTO models (id, name, mode, tokenizer, context_window, max_output_tokens, freeze_output_tokens, hidden_reasoning)
                VALUES ('{id}', '{name}', '{mode}', '{tokenizer}', 128000, {max_output_tokens}, {freeze_output_tokens}, {hidden_reasoning});
             INSERT INTO prices (id, model_id, valid_from, {kinds})
                VALUES ('{}', '{id}', now() - interval '1 hour', {});",
            Uuid::now_v7(),
            kinds.split(", ").map(price).collect::<Vec<_>>().join(", "),
        );
        for (priority, upstream) in upstreams.iter().enumerate() {
            let (target, upstream) = (TargetId::generate().uuid(), upstream.uuid());
            sql.push_str(&format!(
                "INSERT INTO targets (id, model_id, upstream_id, upstream_model, dialects, priority)
                    VALUES ('{target}', '{id}', '{upstream}', '{upstream_model}', ARRAY['openai', 'anthropic'], {priority});"
            ));
        }
        self.sql(&sql).await;
    }

    pub async fn start_gateway(&mut self, flags: &[&str]) {
        if let Some(running) = self.gateway.take() {
            running.stop().await;
        }
        let server = self.another_gateway(flags).await;
        self.url = format!("http://{}", server.address);
        self.gateway = Some(server);
    }

    pub async fn another_gateway(&self, flags: &[&str]) -> Server {
        self.gateway_on(self.redis.url(), flags).await
    }

    /// One that reaches Redis at another address.
    pub async fn gateway_on(&self, redis: String, flags: &[&str]) -> Server {
        let (database, secret) = (self.database_url.clone(), self.secret.to_base64());
        let needed = [
            "gateway",
            "--listen",
            "127.0.0.1:0",
            "--database-url",
            &database,
            "--redis-url",
            &redis.clone(),
            "--secret-key",
            &secret,
            "--drain-s",
            "1",
        ];
        let config = Config::try_parse_from(needed.into_iter().chain(flags.iter().copied())).unwrap();
        // The design's times, shortened together: the first request on a fresh Redis waits out a recovery window.
        let mut quota = quota::Config::new(format!("test-{}", Uuid::now_v7().simple()), redis);
        quota.beat_interval = Duration::from_millis(200);
        quota.recovery_wait = Duration::from_millis(1_000);
        quota.probe_interval = Duration::from_millis(300);
        quota.record_timeout = Duration::from_secs(2);
        if let Some(patience) = self.patience {
            quota.ledger.command_timeout = patience;
        }
        Server::start_with(config, quota).await.unwrap()
    }

    pub async fn sql(&self, sql: &str) {
        self.database.execute(sql).await.unwrap();
    }

    /// A chat request of one message.
    pub fn chat(&self, model: &str, message: &str, more: Value) -> reqwest::RequestBuilder {
        self.chat_at(&self.url, model, message, more)
    }

    /// The same at any gateway.
    pub fn chat_at(&self, url: &str, model: &str, message: &str, more: Value) -> reqwest::RequestBuilder {
        let mut body = json!({"model": model, "messages": [{"role": "user", "content": message}]});
        body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        self.http.post(format!("{url}/v1/chat/completions")).bearer_auth(&self.key).json(&body)
    }

    /// A form with a file.
    pub fn form(&self, path: &str, fields: &[(&str, &str)], file: &[u8]) -> reqwest::RequestBuilder {
        let mut body = Vec::new();
        for (name, value) in fields {
            body.extend(
                format!("--edge\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n").bytes(),
            );
        }
        let head = "Content-Disposition: form-data; name=\"file\"; filename=\"a.wav\"\r\nContent-Type: audio/wav";
        body.extend(format!("--edge\r\n{head}\r\n\r\n").bytes());
        body.extend(file);
        body.extend(b"\r\n--edge--\r\n");
        let url = format!("{}/v1{path}", self.url);
        let form = "multipart/form-data; boundary=edge";
        self.http.post(url).bearer_auth(&self.key).header("content-type", form).body(body)
    }

    /// The models that are no chat: `emb`, `draw`, `speak`, `hear`, `rank`.
    pub async fn make_other_models(&self) {
        let upstream = self.make_upstream("others", &self.sim.url()).await;
        for (name, mode, prices) in [
            ("emb", "embedding", json!({"input": "1"})),
            ("draw", "image", json!({"input": "1", "output": "2"})),
            ("speak", "speech", json!({"input": "1", "audio_output": "2"})),
            ("hear", "transcription", json!({"input": "1", "audio_input": "3", "output": "2"})),
            ("rank", "rerank", json!({"input": "1"})),
        ] {
            self.make_model(NewModel { name, mode, prices, ..NewModel::default() }, &[upstream]).await;
        }
        tokio::time::sleep(Duration::from_millis(400)).await;
    }

    /// A request on any route.
    pub fn post(&self, path: &str, body: &Value) -> reqwest::RequestBuilder {
        self.http.post(format!("{}/v1{path}", self.url)).bearer_auth(&self.key).json(body)
    }

    pub async fn get(&self, path: &str) -> Value {
        self.http.get(format!("{}{path}", self.url)).bearer_auth(&self.key).send().await.unwrap().json().await.unwrap()
    }

    /// The tenant's numbers in units of 10^-8 credits, once nothing is in flight any more.
    pub async fn settled(&self) -> Numbers {
        testkit::wait::until_async("everything to be settled", Duration::from_secs(15), || async {
            let numbers = self.numbers().await;
            Ok((numbers.frozen == 0).then_some(numbers))
        })
        .await
        .unwrap()
    }

    pub async fn numbers(&self) -> Numbers {
        let quota = self.get("/v1/quota").await;
        let tenant =
            quota["levels"].as_array().unwrap().iter().find(|level| level["level"] == "tenant").unwrap().clone();
        let units = |name: &str| Amount::parse(tenant[name].as_str().unwrap(), Unit::Credit).unwrap().units();
        let numbers = Numbers {
            total: units("total"),
            used: units("used"),
            frozen: units("frozen"),
            remaining: units("remaining"),
        };
        assert_eq!(numbers.total, numbers.used + numbers.frozen + numbers.remaining);
        numbers
    }

    /// The record of a request, once it is there.
    pub async fn record(&self, request_id: &str) -> Value {
        let id = request_id.parse::<domain::RequestId>().unwrap().uuid();
        let query = format!(
            "SELECT u.*, s.amount AS charged, s.outcome AS settled, (SELECT count(*) FROM settlements WHERE request_id = u.request_id) AS outcomes
             FROM usage_records u JOIN settlements s ON s.request_id = u.request_id AND s.kind = 0 WHERE u.request_id = '{id}'"
        );
        let record = testkit::wait::until_async("the record", Duration::from_secs(15), || async {
            Ok(self.database.rows(&query).await?.into_iter().next())
        })
        .await
        .unwrap();
        assert_eq!(record["outcomes"], 1);
        record
    }

    /// What the provider served, once that many answers have ended.
    pub async fn served(&self, count: usize) -> Vec<Entry> {
        let book = self.sim.book();
        let lines = testkit::wait::until_async("the provider's books", Duration::from_secs(15), || async {
            let lines = book.ledger(0, 10_000);
            Ok((lines.len() >= count).then_some(lines))
        })
        .await
        .unwrap();
        assert_eq!(lines.len(), count);
        lines
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbers {
    pub total: i64,
    pub used: i64,
    pub frozen: i64,
    pub remaining: i64,
}

pub fn request_id(response: &reqwest::Response) -> String {
    response.headers()["x-request-id"].to_str().unwrap().to_owned()
}

/// The data of each event of a stream.
pub fn events(text: &str) -> Vec<String> {
    text.split("\n\n").filter_map(|event| event.strip_prefix("data: ")).map(str::to_owned).collect()
}

/// Units that `prompt` and `output` tokens cost at 1 and 2 credits per million.
pub fn cost(prompt: u64, output: u64) -> i64 {
    i64::try_from(prompt * 100 + output * 200).unwrap()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
