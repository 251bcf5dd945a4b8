//! Flags, each with an environment variable.

use std::net::SocketAddr;
use std::time::Duration;

use clap::Parser;

/// Heals phantom freezes, opens recovery windows, pushes changed totals and applies what the clock makes due.
#[derive(Debug, Clone, Parser)]
#[command(name = "tollgate-reconciler", version)]
pub struct Config {
    /// PostgreSQL, as a member of the role tollgate_app: postgres://user:password@host:port/database
    #[arg(long, env = "DATABASE_URL", hide_env_values = true)]
    pub database_url: String,
    /// Redis: redis://[user:password@]host:port[/db]
    #[arg(long, env = "REDIS_URL", hide_env_values = true)]
    pub redis_url: String,
    /// Where /metrics, /healthz and /readyz are served
    #[arg(long, env = "TOLLGATE_RECONCILER_METRICS_LISTEN", default_value = "127.0.0.1:9102")]
    pub metrics_listen: SocketAddr,
    /// How long a freeze lives without a beat, seconds; the same on every service
    #[arg(long, env = "TOLLGATE_LEASE_S", default_value_t = 30, value_parser = clap::value_parser!(u64).range(2..=600))]
    pub lease_s: u64,
    /// How long a recovery window lasts, milliseconds; the same on every service
    #[arg(long, env = "TOLLGATE_RECOVERY_WAIT_MS", default_value_t = 3000, value_parser = clap::value_parser!(u64).range(100..=60_000))]
    pub recovery_wait_ms: u64,
}

impl Config {
    /// The lease.
    #[must_use]
    pub const fn lease(&self) -> Duration {
        Duration::from_secs(self.lease_s)
    }

    /// The window.
    #[must_use]
    pub const fn recovery_wait(&self) -> Duration {
        Duration::from_millis(self.recovery_wait_ms)
    }
}
