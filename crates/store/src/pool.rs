//! The connection pool, with a bound on everything that could wait.

use std::str::FromStr;
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{PgConnection, Postgres, Transaction};

use crate::Error;

/// A connection that is given back has to answer within this.
const RETURN_WITHIN: Duration = Duration::from_secs(2);

/// How to reach Postgres.
#[derive(Debug, Clone)]
pub struct Config {
    /// `postgres://user:password@host:port/database`.
    pub url: String,
    /// Connections kept at most.
    pub max_connections: u32,
    /// A statement that takes longer is ended by the server. Below half a lease.
    pub statement_timeout: Duration,
    /// How long a lock is waited for. Below half a lease.
    pub lock_timeout: Duration,
    /// Shown in `pg_stat_activity`.
    pub application_name: String,
    /// Statements are planned anew at each call, with its values: for lists whose filters may be there or not.
    pub plans_each_call: bool,
}

impl Config {
    /// The defaults for a service.
    #[must_use]
    pub fn new(url: impl Into<String>, application_name: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            max_connections: 16,
            statement_timeout: Duration::from_secs(10),
            lock_timeout: Duration::from_secs(5),
            application_name: application_name.into(),
            plans_each_call: false,
        }
    }
}

/// A pool of connections to Postgres' primary. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Store {
    pool: PgPool,
}

impl Store {
    /// Opens a pool and makes one connection, so that a wrong URL stops the start.
    ///
    /// # Errors
    /// `Unavailable` where nobody answers within 5 s, `Database` where the URL can't be read.
    pub async fn connect(config: &Config) -> Result<Self, Error> {
        let options = connect_options(config)?;
        let pool = pool_options(config).connect_with(options).await?;
        Ok(Self { pool })
    }

    /// As [`Self::connect`], but waits for a Postgres that is away or still starting: services that start together come up
    /// in any order.
    ///
    /// # Errors
    /// What no waiting mends: a URL that can't be read, a wrong password, a database that does not exist.
    pub async fn connect_waiting(config: &Config) -> Result<Self, Error> {
        loop {
            match Self::connect(config).await {
                Err(Error::Unavailable(cause)) => {
                    tracing::warn!(%cause, "DATABASE_URL: PostgreSQL is not there yet; trying again every second");
                    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
                }
                outcome => return outcome,
            }
        }
    }

    /// The same without a first connection: for services that must start while Postgres is away.
    ///
    /// # Errors
    /// `Database` where the URL can't be read.
    pub fn connect_lazy(config: &Config) -> Result<Self, Error> {
        let options = connect_options(config)?;
        Ok(Self { pool: pool_options(config).connect_lazy_with(options) })
    }

    /// Begins a transaction; dropped without `commit` it rolls back.
    ///
    /// # Errors
    /// `Unavailable` where no connection is to be had within 5 s.
    pub async fn begin(&self) -> Result<Transaction<'static, Postgres>, Error> {
        Ok(self.pool.begin().await?)
    }

    /// Begins a transaction that reads one snapshot of the whole database and writes nothing.
    ///
    /// # Errors
    /// `Unavailable` where no connection is to be had within 5 s.
    pub async fn snapshot(&self) -> Result<Transaction<'static, Postgres>, Error> {
        Ok(self.pool.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?)
    }

    /// A connection outside a transaction, for single reads.
    ///
    /// # Errors
    /// `Unavailable` where no connection is to be had within 5 s.
    pub async fn acquire(&self) -> Result<Lent, Error> {
        Ok(Lent { connection: self.pool.acquire().await? })
    }

    /// The pool itself, for listeners and migrations.
    #[must_use]
    pub const fn pool(&self) -> &PgPool {
        &self.pool
    }

    /// Answers whether Postgres takes a statement now.
    ///
    /// # Errors
    /// `Unavailable` where it does not.
    pub async fn ping(&self) -> Result<(), Error> {
        sqlx::query("SELECT 1").execute(&self.pool).await?;
        Ok(())
    }
}

/// A connection that goes back to its pool when dropped. The pool tests it on the way, and would wait for ever for a Postgres
/// that fell silent: here that is bounded, and what does not answer is closed and its place given to a new connection.
#[derive(Debug)]
pub struct Lent {
    connection: PoolConnection<Postgres>,
}

impl std::ops::Deref for Lent {
    type Target = PgConnection;
    fn deref(&self) -> &PgConnection {
        &self.connection
    }
}

impl std::ops::DerefMut for Lent {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.connection
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        // Without a runtime nothing can be awaited: the pool's own way.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let returned = self.connection.return_to_pool();
        runtime.spawn(async move {
            if tokio::time::timeout(RETURN_WITHIN, returned).await.is_err() {
                tracing::warn!("a connection to PostgreSQL fell silent and was closed");
            }
        });
    }
}

/// Begins a transaction on a connection; dropped without `commit` it rolls back.
///
/// # Errors
/// `Unavailable` where the connection is lost.
pub async fn begin(connection: &mut PgConnection) -> Result<Transaction<'_, Postgres>, Error> {
    Ok(sqlx::Connection::begin(connection).await?)
}

fn connect_options(config: &Config) -> Result<PgConnectOptions, Error> {
    // sqlx reads any scheme.
    if !["postgres://", "postgresql://"].iter().any(|scheme| config.url.starts_with(scheme)) {
        let why = "the URL must begin with postgres:// or postgresql://";
        return Err(Error::Database(sqlx::Error::Configuration(why.into())));
    }
    let statement_ms = config.statement_timeout.as_millis().to_string();
    let lock_ms = config.lock_timeout.as_millis().to_string();
    Ok(PgConnectOptions::from_str(&config.url)?.application_name(&config.application_name).options([
        ("statement_timeout", statement_ms.as_str()),
        ("lock_timeout", lock_ms.as_str()),
        ("idle_in_transaction_session_timeout", statement_ms.as_str()),
        ("synchronous_commit", "on"),
        ("timezone", "UTC"),
        ("plan_cache_mode", if config.plans_each_call { "force_custom_plan" } else { "auto" }),
    ]))
}

fn pool_options(config: &Config) -> PgPoolOptions {
    PgPoolOptions::new()
        .max_connections(config.max_connections)
        .acquire_timeout(Duration::from_secs(5))
        .idle_timeout(Duration::from_secs(300))
        .max_lifetime(Duration::from_secs(1800))
        .test_before_acquire(false)
}
