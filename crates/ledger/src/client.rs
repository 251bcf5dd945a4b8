//! The connection, and the one way in which scripts are called.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::RwLock;
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use tracing::warn;

use crate::LedgerError;
use crate::breaker::Breaker;
use crate::reply::Reply;
use crate::scripts::{self, Script};

/// How to reach Redis.
#[derive(Debug, Clone)]
pub struct Config {
    /// `redis://[user:password@]host:port[/db]`.
    pub url: String,
    /// A reply later than this counts as unknown.
    pub command_timeout: Duration,
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// How long a request counts as in flight without a beat. The gateways' lease of a freeze.
    pub lease: Duration,
}

impl Config {
    /// The defaults: 250 ms for a command, 1 s to connect, a lease of 30 s.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            command_timeout: Duration::from_millis(250),
            connect_timeout: Duration::from_secs(1),
            lease: Duration::from_secs(30),
        }
    }
}

/// The ledger's scripts on one Redis. Cheap to clone; all clones share one multiplexed connection.
#[derive(Clone)]
pub struct Ledger {
    /// Replaced whole by [`Ledger::take_over`].
    current: Arc<RwLock<ConnectionManager>>,
    client: redis::Client,
    settings: ConnectionManagerConfig,
    command_timeout: Duration,
    breaker: Option<Arc<Breaker>>,
    pub(crate) lease_ms: u64,
}

impl std::fmt::Debug for Ledger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ledger").finish_non_exhaustive()
    }
}

impl Ledger {
    /// Prepares a connection that is made, and made again after a loss, in the background.
    ///
    /// # Errors
    /// `Configuration` where the URL can't be read.
    pub fn connect_lazy(config: &Config) -> Result<Self, LedgerError> {
        let client = redis::Client::open(config.url.as_str())
            .map_err(|error| LedgerError::Configuration(format!("REDIS_URL is not a Redis URL: {error}")))?;
        let settings = ConnectionManagerConfig::new()
            .set_connection_timeout(Some(config.connect_timeout))
            .set_response_timeout(Some(config.command_timeout))
            .set_number_of_retries(1)
            .set_min_delay(Duration::from_millis(20))
            .set_max_delay(Duration::from_millis(500));
        let connection = ConnectionManager::new_lazy_with_config(client.clone(), settings.clone())?;
        let lease_ms = u64::try_from(config.lease.as_millis()).unwrap_or(u64::MAX).max(1);
        let command_timeout = config.command_timeout;
        let current = Arc::new(RwLock::new(connection));
        Ok(Self { current, client, settings, command_timeout, breaker: None, lease_ms })
    }

    /// The same ledger behind `breaker`: its calls count there, and none is sent while it is open.
    #[must_use]
    pub fn behind(self, breaker: Arc<Breaker>) -> Self {
        Self { breaker: Some(breaker), ..self }
    }

    /// Since when the breaker is open; None where it is closed, or there is none.
    #[must_use]
    pub fn away_since(&self) -> Option<tokio::time::Instant> {
        self.breaker.as_ref()?.opened()
    }

    /// Waits until the breaker is closed.
    pub async fn until_back(&self) {
        if let Some(breaker) = &self.breaker {
            breaker.until_closed().await;
        }
    }

    /// A probe: a connection of its own, made anew, that no breaker keeps from being used. An old connection whose other end
    /// fell silent would stay so for many minutes.
    ///
    /// # Errors
    /// `Configuration`.
    pub fn probe(&self) -> Result<Self, LedgerError> {
        let connection = ConnectionManager::new_lazy_with_config(self.client.clone(), self.settings.clone())?;
        Ok(Self { current: Arc::new(RwLock::new(connection)), breaker: None, ..self.clone() })
    }

    /// Uses the probe's connection from now on, in every clone.
    pub fn take_over(&self, probe: &Self) {
        let connection = probe.connection();
        *self.current.write() = connection;
    }

    pub(crate) fn connection(&self) -> ConnectionManager {
        self.current.read().clone()
    }

    /// Waits for an answer, at most the command's time-out, and tells the breaker of it.
    async fn bounded<T>(&self, call: impl Future<Output = Result<T, redis::RedisError>>) -> Result<T, LedgerError> {
        if self.away_since().is_some() {
            return Err(LedgerError::Away);
        }
        let sent = tokio::time::Instant::now();
        // The connection's own time-out begins only once it stands.
        let outcome = match tokio::time::timeout(self.command_timeout, call).await {
            Ok(outcome) => outcome.map_err(LedgerError::from),
            Err(_) => Err(LedgerError::Unknown(std::io::Error::from(std::io::ErrorKind::TimedOut).into())),
        };
        if let Some(breaker) = &self.breaker {
            match &outcome {
                Err(error) if error.is_unanswered() => {
                    breaker.failed(sent, tokio::time::Instant::now());
                }
                _ => breaker.answered(),
            }
        }
        outcome
    }

    /// Connects, checks that Redis keeps what it is given, and loads every script.
    ///
    /// # Errors
    /// `Configuration` where `maxmemory-policy` would evict money or the version is below 7.0; else why Redis is not reachable.
    pub async fn connect(config: &Config) -> Result<Self, LedgerError> {
        let ledger = Self::connect_lazy(config)?;
        ledger.check_server().await?;
        ledger.load_scripts().await?;
        Ok(ledger)
    }

    /// As [`Self::connect`], but waits for a Redis that is away, still loads its data or is not the primary yet: services
    /// that start together come up in any order.
    ///
    /// # Errors
    /// `Configuration` where `maxmemory-policy` would evict money or the version is below 7.0; else what no waiting mends,
    /// such as a wrong password.
    pub async fn connect_waiting(config: &Config) -> Result<Self, LedgerError> {
        loop {
            match Self::connect(config).await {
                Err(error) if error.is_transient() && !error.is_access() => {
                    let cause = std::error::Error::source(&error).map(ToString::to_string);
                    warn!(cause, "REDIS_URL: Redis is not there yet; trying again every second");
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
                outcome => return outcome,
            }
        }
    }

    /// Loads every script, so that no call has to send a text.
    ///
    /// # Errors
    /// Why Redis did not take them.
    pub async fn load_scripts(&self) -> Result<(), LedgerError> {
        let mut pipeline = redis::pipe();
        for script in scripts::all() {
            pipeline.cmd("SCRIPT").arg("LOAD").arg(script.text()).ignore();
        }
        pipeline.query_async::<()>(&mut self.connection()).await?;
        Ok(())
    }

    /// Answers whether Redis takes a command now.
    ///
    /// # Errors
    /// Why it does not.
    pub async fn ping(&self) -> Result<(), LedgerError> {
        let mut connection = self.connection();
        self.bounded(redis::cmd("PING").query_async::<()>(&mut connection)).await
    }

    /// The server's version, such as `7.2.4`; None where it does not tell.
    ///
    /// # Errors
    /// Why Redis did not answer.
    pub async fn version(&self) -> Result<Option<String>, LedgerError> {
        let mut connection = self.connection();
        let info: String = self.bounded(redis::cmd("INFO").arg("server").query_async(&mut connection)).await?;
        Ok(info.lines().find_map(|line| line.strip_prefix("redis_version:")).map(|version| version.trim().to_owned()))
    }

    async fn check_server(&self) -> Result<(), LedgerError> {
        let version = self.version().await?;
        let major = version.and_then(|version| version.split('.').next()?.parse::<u32>().ok());
        let mut connection = self.connection();
        if major.is_some_and(|major| major < 7) {
            return Err(LedgerError::Configuration(
                "REDIS_URL: Redis 7.0 or later is needed (scripts with #!lua)".to_owned(),
            ));
        }
        let policy: Result<Vec<String>, _> =
            redis::cmd("CONFIG").arg("GET").arg("maxmemory-policy").query_async(&mut connection).await;
        match policy.as_deref() {
            Ok([_, policy]) if policy == "noeviction" => Ok(()),
            Ok([_, policy]) => Err(LedgerError::Configuration(format!(
                "REDIS_URL: maxmemory-policy is {policy}, which would evict freezes; set it to noeviction"
            ))),
            _ => {
                warn!(
                    "maxmemory-policy could not be checked (CONFIG is not permitted); make sure that it is noeviction"
                );
                Ok(())
            }
        }
    }

    /// Calls a script by its digest; where Redis does not know it, by its text (which loads it).
    pub(crate) async fn call(
        &self,
        script: &'static Script,
        keys: &[String],
        args: &[String],
    ) -> Result<(Reply, Duration), LedgerError> {
        let sent = Instant::now();
        let mut connection = self.connection();
        let mut command = "evalsha";
        let mut attempt = redis::cmd("EVALSHA");
        attempt.arg(script.digest()).arg(keys.len()).arg(keys).arg(args);
        let answered = async {
            let reply: Result<Vec<String>, redis::RedisError> = attempt.query_async(&mut connection).await;
            match reply {
                Err(error) if error.code() == Some("NOSCRIPT") => {
                    command = "eval";
                    let mut whole = redis::cmd("EVAL");
                    whole.arg(script.text()).arg(keys.len()).arg(keys).arg(args);
                    whole.query_async(&mut connection).await
                }
                other => other,
            }
        };
        let outcome = self.bounded(answered).await;
        observe(script.name, command, sent.elapsed(), &outcome);
        Ok((Reply::new(script.name, outcome?), sent.elapsed()))
    }
}

/// A call as its caller sees it: with the way there and back. One that the breaker kept from being sent is no call.
fn observe<T>(script: &'static str, command: &'static str, took: Duration, outcome: &Result<T, LedgerError>) {
    let outcome = match outcome {
        Ok(_) => "ok",
        Err(LedgerError::Away) => return,
        Err(error) if error.is_unanswered() => "unanswered",
        Err(_) => "error",
    };
    let labels = [("script", script), ("command", command), ("outcome", outcome)];
    metrics::counter!("tollgate_ledger_calls_total", &labels).increment(1);
    metrics::histogram!("tollgate_ledger_call_seconds", "script" => script).record(took);
}
