//! Models, targets, prices and upstreams in memory: one snapshot, replaced whole.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use domain::price::{Multiplier, Prices, TokenWeights};
use domain::{ModelId, TargetId, UpstreamId};
use jiff::Timestamp;
use parking_lot::{Mutex, RwLock};
use store::Store;
use store::catalog as rows;
use store::seal::Sealer;

use crate::tokens::{Tokenizer, Vocabularies};

/// What is on offer at one instant.
#[derive(Debug, Default)]
pub struct Snapshot {
    models: HashMap<String, Arc<Model>>,
}

impl Snapshot {
    /// The model of a name.
    #[must_use]
    pub fn model(&self, name: &str) -> Option<&Arc<Model>> {
        self.models.get(name)
    }

    /// Every model, by name.
    #[must_use]
    pub fn models(&self) -> Vec<&Arc<Model>> {
        let mut models: Vec<_> = self.models.values().collect();
        models.sort_by(|a, b| a.name.cmp(&b.name));
        models
    }
}

/// A model with what was worked out of it.
#[derive(Debug)]
pub struct Model {
    /// Its id.
    pub id: ModelId,
    /// Its name in requests.
    pub name: String,
    /// `chat`, `embedding`...
    pub mode: String,
    /// How its text is counted.
    pub tokenizer: Arc<Tokenizer>,
    /// Tokens of prompt and answer together.
    pub context_window: u64,
    /// Tokens it can answer with.
    pub max_output_tokens: u64,
    /// Answer tokens frozen at first where the guard can extend.
    pub freeze_output_tokens: u64,
    /// The length that 90 % of its latest answers stay below.
    pub p90_output_tokens: Option<u64>,
    /// It thinks where nobody sees it.
    pub hidden_reasoning: bool,
    /// Factor on estimates.
    pub safety_factor: Multiplier,
    /// Since when it exists, in seconds of Unix time.
    pub created: i64,
    /// Oldest first: when it comes into force, the prices and the weights.
    pub prices: Vec<(Timestamp, Prices, TokenWeights)>,
    /// Enabled targets, by priority.
    pub targets: Vec<Arc<Target>>,
}

impl Model {
    /// Can it be called: has it a target, and a price in force?
    #[must_use]
    pub fn is_offered(&self, at: Timestamp) -> bool {
        !self.targets.is_empty() && self.prices_at(at).is_some()
    }

    /// The prices in force at an instant; none where the model has no price yet.
    #[must_use]
    pub fn prices_at(&self, at: Timestamp) -> Option<(Prices, TokenWeights)> {
        self.prices.iter().rev().find(|(from, ..)| *from <= at).map(|(_, prices, weights)| (*prices, *weights))
    }
}

/// Where a model is served.
#[derive(Debug)]
pub struct Target {
    /// Its id.
    pub id: TargetId,
    /// The account it belongs to.
    pub upstream: Arc<Upstream>,
    /// The upstream's name of the model.
    pub upstream_model: String,
    /// Takes requests in the OpenAI dialect.
    pub speaks_openai: bool,
    /// Takes requests in the Anthropic dialect.
    pub speaks_anthropic: bool,
    /// Lower is tried first.
    pub priority: i32,
    /// Share among targets of one priority.
    pub weight: u32,
    /// Factor on the price.
    pub multiplier: Multiplier,
}

/// An account at a provider.
pub struct Upstream {
    /// Its id.
    pub id: UpstreamId,
    /// Its API is Anthropic's.
    pub is_anthropic: bool,
    /// Where its API is, without a slash at the end.
    pub base_url: String,
    /// Its key in clear.
    pub key: Option<String>,
    /// For the next bytes to come.
    pub read_timeout: Duration,
    /// Its connections.
    pub client: reqwest::Client,
}

impl std::fmt::Debug for Upstream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Upstream").field("id", &self.id).field("base_url", &self.base_url).finish_non_exhaustive()
    }
}

impl Upstream {
    /// The address of a route such as `/chat/completions`. A base URL without a path of its own gets `/v1`.
    #[must_use]
    pub fn url(&self, route: &str) -> String {
        domain::destination::of_route(&self.base_url, route)
    }
}

/// The catalog in memory.
pub struct Catalog {
    store: Store,
    sealer: Sealer,
    vocabularies: Vocabularies,
    snapshot: RwLock<Arc<Snapshot>>,
    /// One client for each time-out of connecting: its pool of connections outlives the snapshots.
    clients: Mutex<HashMap<i32, reqwest::Client>>,
}

impl Catalog {
    /// Nothing loaded yet.
    #[must_use]
    pub fn new(store: Store, sealer: Sealer, vocabularies: Vocabularies) -> Self {
        Self { store, sealer, vocabularies, snapshot: RwLock::default(), clients: Mutex::default() }
    }

    /// What is on offer now.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshot.read())
    }

    /// Reads the catalog again. On an error the old snapshot stays.
    ///
    /// # Errors
    /// The store's.
    pub async fn refresh(&self) -> Result<(), store::Error> {
        let rows = rows::load(&self.store).await?;
        let snapshot = Arc::new(self.build(rows));
        *self.snapshot.write() = snapshot;
        Ok(())
    }

    /// What can't be understood is left out and logged: one bad row must not take the others away.
    fn build(&self, rows: rows::Catalog) -> Snapshot {
        let upstreams: HashMap<_, _> = rows
            .upstreams
            .into_iter()
            .filter_map(|row| logged(self.upstream(row)))
            .map(|upstream| (upstream.id, Arc::new(upstream)))
            .collect();
        let mut targets: HashMap<ModelId, Vec<Arc<Target>>> = HashMap::new();
        for row in rows.targets {
            let Some(upstream) = upstreams.get(&row.upstream_id) else { continue };
            let model = row.model_id;
            if let Some(target) = logged(target(row, upstream)) {
                targets.entry(model).or_default().push(Arc::new(target));
            }
        }
        let mut prices: HashMap<ModelId, Vec<_>> = HashMap::new();
        for row in rows.prices {
            let model = row.model_id;
            if let Some(price) = logged(price(row)) {
                prices.entry(model).or_default().push(price);
            }
        }
        let models = rows.models.into_iter().filter_map(|row| {
            let (prices, targets) =
                (prices.remove(&row.id).unwrap_or_default(), targets.remove(&row.id).unwrap_or_default());
            let tokenizer = Arc::new(self.vocabularies.named(&row.tokenizer));
            logged(model(row, tokenizer, prices, targets))
        });
        Snapshot { models: models.map(|model| (model.name.clone(), Arc::new(model))).collect() }
    }

    fn upstream(&self, row: rows::Upstream) -> Result<Upstream, store::Error> {
        let key = row.sealed_key.map(|sealed| self.sealer.open(&row.id.to_string(), &sealed)).transpose()?;
        Ok(Upstream {
            id: row.id,
            is_anthropic: row.kind == "anthropic",
            base_url: row.base_url.trim_end_matches('/').to_owned(),
            key,
            read_timeout: milliseconds(row.read_timeout_ms),
            client: self.client(row.connect_timeout_ms)?,
        })
    }

    fn client(&self, connect_timeout_ms: i32) -> Result<reqwest::Client, store::Error> {
        let mut clients = self.clients.lock();
        if let Some(client) = clients.get(&connect_timeout_ms) {
            return Ok(client.clone());
        }
        let client = reqwest::Client::builder()
            .connect_timeout(milliseconds(connect_timeout_ms))
            .tcp_nodelay(true)
            .tcp_keepalive(Duration::from_secs(60))
            .pool_idle_timeout(Duration::from_secs(50))
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .user_agent(concat!("tollgate/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|why| store::Error::corrupt("upstreams.connect_timeout_ms", why))?;
        clients.insert(connect_timeout_ms, client.clone());
        Ok(client)
    }
}

fn logged<T>(built: Result<T, store::Error>) -> Option<T> {
    built.inspect_err(|error| tracing::error!(%error, "a row of the catalog is left out")).ok()
}

fn milliseconds(ms: i32) -> Duration {
    Duration::from_millis(u64::try_from(ms).unwrap_or(1))
}

fn model(
    row: rows::Model,
    tokenizer: Arc<Tokenizer>,
    prices: Vec<(Timestamp, Prices, TokenWeights)>,
    targets: Vec<Arc<Target>>,
) -> Result<Model, store::Error> {
    let count = |what, value: i64| u64::try_from(value).map_err(|why| store::Error::corrupt(what, why));
    Ok(Model {
        id: row.id,
        tokenizer,
        context_window: count("models.context_window", row.context_window)?,
        max_output_tokens: count("models.max_output_tokens", row.max_output_tokens)?,
        freeze_output_tokens: count("models.freeze_output_tokens", row.freeze_output_tokens)?,
        p90_output_tokens: row.p90_output_tokens.map(|p90| count("models.p90_output_tokens", p90)).transpose()?,
        safety_factor: decimal("models.safety_factor", &row.safety_factor)?,
        hidden_reasoning: row.hidden_reasoning,
        created: row.created_at.unix_timestamp(),
        name: row.name,
        mode: row.mode,
        prices,
        targets,
    })
}

fn target(row: rows::Target, upstream: &Arc<Upstream>) -> Result<Target, store::Error> {
    Ok(Target {
        id: row.id,
        upstream: Arc::clone(upstream),
        speaks_openai: row.dialects.iter().any(|dialect| dialect == "openai"),
        speaks_anthropic: row.dialects.iter().any(|dialect| dialect == "anthropic"),
        upstream_model: row.upstream_model,
        priority: row.priority,
        weight: u32::try_from(row.weight).unwrap_or(1),
        multiplier: decimal("targets.multiplier", &row.multiplier)?,
    })
}

fn price(row: rows::Price) -> Result<(Timestamp, Prices, TokenWeights), store::Error> {
    let parse = |what, text: Option<String>| {
        text.map(|text| domain::price::Price::parse(&text).map_err(|why| store::Error::corrupt(what, why))).transpose()
    };
    let prices = Prices {
        input: parse("prices.input", row.input)?,
        cached_input: parse("prices.cached_input", row.cached_input)?,
        cache_write_5m: parse("prices.cache_write_5m", row.cache_write_5m)?,
        cache_write_1h: parse("prices.cache_write_1h", row.cache_write_1h)?,
        output: parse("prices.output", row.output)?,
        reasoning: parse("prices.reasoning", row.reasoning)?,
        audio_input: parse("prices.audio_input", row.audio_input)?,
        audio_output: parse("prices.audio_output", row.audio_output)?,
        image: parse("prices.image", row.image)?,
        per_request: parse("prices.per_request", row.per_request)?,
    };
    let weights = row.token_weights.map(serde_json::from_value).transpose();
    let weights = weights.map_err(|why| store::Error::corrupt("prices.token_weights", why))?.unwrap_or_default();
    let from = row.valid_from;
    let from = Timestamp::from_nanosecond(from.unix_timestamp_nanos())
        .map_err(|why| store::Error::corrupt("prices.valid_from", why))?;
    Ok((from, prices, weights))
}

fn decimal(what: &'static str, text: &str) -> Result<Multiplier, store::Error> {
    Multiplier::parse(text).map_err(|why| store::Error::corrupt(what, why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_without_a_path_gets_v1() {
        let url = |base: &str| {
            let upstream = Upstream {
                id: UpstreamId::from_uuid(uuid::Uuid::nil()),
                is_anthropic: false,
                base_url: base.trim_end_matches('/').to_owned(),
                key: None,
                read_timeout: Duration::ZERO,
                client: reqwest::Client::new(),
            };
            upstream.url("/chat/completions")
        };
        assert_eq!(url("http://127.0.0.1:9000"), "http://127.0.0.1:9000/v1/chat/completions");
        assert_eq!(url("http://127.0.0.1:9000/"), "http://127.0.0.1:9000/v1/chat/completions");
        assert_eq!(url("https://api.openai.com/v1/"), "https://api.openai.com/v1/chat/completions");
        assert_eq!(url("https://example.com/api/paas/v4"), "https://example.com/api/paas/v4/chat/completions");
    }
}
