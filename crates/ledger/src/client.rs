//! The connection, and the one way in which scripts are called.

use std::time::{Duration, Instant};

use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use tracing::warn;

use crate::LedgerError;
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
    pub(crate) connection: ConnectionManager,
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
        let connection = ConnectionManager::new_lazy_with_config(client, settings)?;
        let lease_ms = u64::try_from(config.lease.as_millis()).unwrap_or(u64::MAX).max(1);
        Ok(Self { connection, lease_ms })
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
        pipeline.query_async::<()>(&mut self.connection.clone()).await?;
        Ok(())
    }

    /// Answers whether Redis takes a command now.
    ///
    /// # Errors
    /// Why it does not.
    pub async fn ping(&self) -> Result<(), LedgerError> {
        redis::cmd("PING").query_async::<()>(&mut self.connection.clone()).await?;
        Ok(())
    }

    async fn check_server(&self) -> Result<(), LedgerError> {
        let mut connection = self.connection.clone();
        let info: String = redis::cmd("INFO").arg("server").query_async(&mut connection).await?;
        let major = info
            .lines()
            .find_map(|line| line.strip_prefix("redis_version:"))
            .and_then(|version| version.split('.').next()?.trim().parse::<u32>().ok());
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
        let mut connection = self.connection.clone();
        let mut attempt = redis::cmd("EVALSHA");
        attempt.arg(script.digest()).arg(keys.len()).arg(keys).arg(args);
        let reply: Result<Vec<String>, redis::RedisError> = attempt.query_async(&mut connection).await;
        let parts = match reply {
            Err(error) if error.code() == Some("NOSCRIPT") => {
                let mut whole = redis::cmd("EVAL");
                whole.arg(script.text()).arg(keys.len()).arg(keys).arg(args);
                whole.query_async(&mut connection).await?
            }
            other => other?,
        };
        Ok((Reply::new(script.name, parts), sent.elapsed()))
    }
}
