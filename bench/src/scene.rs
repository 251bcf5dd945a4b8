//! Everything that is measured, set up by the admin API: a provider that answers at once, one that streams, a tenant.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::{Context, ensure};
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::process::{Child, Command};

use crate::connection::{Aim, Connection};
use crate::nginx::Nginx;

/// What is measured.
pub struct Scene {
    /// Answers at once.
    pub provider: Nginx,
    /// The plain proxy in front of it.
    pub proxy: Nginx,
    /// The plain proxy in front of the streaming provider.
    pub stream_proxy: Nginx,
    /// Where the streaming provider is.
    pub simulated: SocketAddr,
    /// The gateway.
    pub gateway: SocketAddr,
    /// Its process.
    pub gateway_pid: u32,
    /// Redis' process.
    pub redis_pid: u32,
    gateway_url: String,
    key: String,
    http: reqwest::Client,
    _simulated: Child,
}

impl Scene {
    /// Starts what is missing and creates models, a tenant and a key.
    ///
    /// # Errors
    /// What could not be started or created.
    pub async fn set(credentials: &Path, binaries: &Path) -> anyhow::Result<Self> {
        let credentials: Value = serde_json::from_slice(&std::fs::read(credentials)?)?;
        let text = |name: &str| credentials[name].as_str().map(str::to_owned).with_context(|| format!("no {name}"));
        let pid = |value: &Value| value.as_u64().and_then(|pid| u32::try_from(pid).ok()).context("no process");
        let provider = Nginx::provider().await?;
        let proxy = Nginx::proxy(provider.address).await?;
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let simulated = SocketAddr::from(([127, 0, 0, 1], port));
        let child = Command::new(binaries.join("sim-upstream"))
            .args(["--listen", &simulated.to_string()])
            .stdout(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .context("the simulated provider")?;
        let stream_proxy = Nginx::proxy(simulated).await?;
        let gateway_url = text("gateway_url")?;
        let mut scene = Self {
            provider,
            proxy,
            stream_proxy,
            simulated,
            gateway: gateway_url.trim_start_matches("http://").parse().context("gateway_url")?,
            gateway_pid: pid(&credentials["pids"]["gateways"][0])?,
            redis_pid: pid(&credentials["pids"]["redis"])?,
            gateway_url,
            key: String::new(),
            http: reqwest::Client::new(),
            _simulated: child,
        };
        let admin = Admin {
            base: format!("{}/api/v1", text("admin_url")?),
            token: text("service_token")?,
            http: &scene.http,
            calls: AtomicU32::new(0),
        };
        scene.key = admin.create(&scene).await?;
        scene.warm().await?;
        Ok(scene)
    }

    /// A short call to whoever is at `address`.
    #[must_use]
    pub fn short(&self, address: SocketAddr) -> Aim {
        self.aim(address, "bench-fast", "What is measured here?", false)
    }

    /// A streamed call, answered by the simulated provider as `script` says.
    #[must_use]
    pub fn streamed(&self, address: SocketAddr, script: &str) -> Aim {
        self.aim(address, "bench-stream", &format!("hello [[sim {script}]]"), true)
    }

    fn aim(&self, address: SocketAddr, model: &str, message: &str, stream: bool) -> Aim {
        let body = json!({"model": model, "stream": stream, "messages": [{"role": "user", "content": message}]});
        Aim { address, bearer: self.key.clone(), body: Bytes::from(body.to_string()) }
    }

    /// The first call of a new tenant, and the new models, may take a moment.
    async fn warm(&self) -> anyhow::Result<()> {
        let mut last = Ok(());
        for _ in 0..50 {
            last = async { Connection::open(self.gateway).await?.call(&self.short(self.gateway)).await }.await;
            if last.is_ok() {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        last.context("the gateway does not serve the new model")
    }

    /// What is in flight for the tenant, as text, once that is nothing; or after `within`.
    ///
    /// # Errors
    /// The gateway does not answer.
    pub async fn in_flight(&self, within: Duration) -> anyhow::Result<String> {
        let began = std::time::Instant::now();
        loop {
            let request = self.http.get(format!("{}/v1/quota", self.gateway_url)).bearer_auth(&self.key);
            let quota: Value = request.send().await?.json().await?;
            let levels = quota["levels"].as_array().context("no levels")?;
            let tenant = levels.iter().find(|level| level["level"] == "tenant").context("no tenant")?;
            let frozen = tenant["frozen"].as_str().context("no frozen")?.to_owned();
            if frozen == "0.00000000" || began.elapsed() > within {
                return Ok(frozen);
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }
}

impl Scene {
    /// Answers that the simulated provider is giving at this moment.
    ///
    /// # Errors
    /// It does not say.
    pub async fn served_now(&self) -> anyhow::Result<usize> {
        let active: Value = self.http.get(format!("http://{}/sim/active", self.simulated)).send().await?.json().await?;
        Ok(active["answers"].as_array().context("no answers")?.len())
    }
}

struct Admin<'a> {
    base: String,
    token: String,
    http: &'a reqwest::Client,
    /// Each call has an idempotency key of its own.
    calls: AtomicU32,
}

impl Admin<'_> {
    async fn post(&self, path: &str, body: Value) -> anyhow::Result<Value> {
        let request = self.http.post(format!("{}{path}", self.base)).bearer_auth(&self.token).json(&body);
        let unique = format!("bench-{}-{}", std::process::id(), self.calls.fetch_add(1, Ordering::Relaxed));
        let response = request.header("idempotency-key", unique).send().await?;
        let status = response.status();
        let reply: Value = response.json().await?;
        ensure!(status.is_success(), "POST {path}: {status} {reply}");
        Ok(reply)
    }

    async fn create(&self, scene: &Scene) -> anyhow::Result<String> {
        self.model("bench-fast", scene.provider.address).await?;
        self.model("bench-stream", scene.simulated).await?;
        let tenant = self.post("/tenants", json!({"name": "Bench", "plan": {"amount": "1000000"}})).await?;
        let path = format!("/tenants/{}/projects", id(&tenant)?);
        let project = self.post(&path, json!({"name": "bench"})).await?;
        let key = self.post(&format!("/projects/{}/keys", id(&project)?), json!({"name": "bench"})).await?;
        key["secret"].as_str().map(str::to_owned).context("no secret")
    }

    async fn model(&self, name: &str, provider: SocketAddr) -> anyhow::Result<()> {
        let upstream =
            json!({"name": name, "kind": "openai", "base_url": format!("http://{provider}/v1"), "api_key": "none"});
        let upstream = self.post("/upstreams", upstream).await;
        let upstream = upstream.with_context(|| format!("the upstream of {name}"))?;
        let model = json!({"name": name, "mode": "chat", "tokenizer": "o200k_base", "context_window": 128_000, "max_output_tokens": 4096});
        let model = self.post("/models", model).await?;
        let path = format!("/models/{}", id(&model)?);
        self.post(&format!("{path}/targets"), json!({"upstream_id": id(&upstream)?, "upstream_model": name})).await?;
        self.post(&format!("{path}/prices"), json!({"input": "1", "output": "2"})).await?;
        Ok(())
    }
}

fn id(value: &Value) -> anyhow::Result<&str> {
    value["id"].as_str().context("no id")
}
