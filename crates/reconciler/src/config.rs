//! Flags, each with an environment variable.

use std::net::SocketAddr;
use std::time::Duration;

use clap::Parser;
use domain::api_key::SecretKey;
use ipnet::IpNet;

use crate::deliver::schedule::{Schedule, duration};

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
    /// How often every account is compared in Redis, PostgreSQL and by its sums
    #[arg(long, env = "TOLLGATE_COMPARE_EVERY", default_value = "1h", value_parser = duration)]
    pub compare_every: Duration,
    /// 32 random bytes in base64, the same for every service of the deployment
    #[arg(long, env = "TOLLGATE_SECRET_KEY", hide_env_values = true, value_parser = secret_key)]
    pub secret_key: SecretKey,
    /// Keys that seal providers' keys and webhooks' secrets, each 32 random bytes in base64, separated by commas: the first
    /// seals, all open; unset: derived from TOLLGATE_SECRET_KEY, which always opens
    #[arg(long, env = "TOLLGATE_SEALING_KEYS", hide_env_values = true, value_delimiter = ',', value_parser = sealing_key)]
    pub sealing_keys: Vec<SecretKey>,
    /// The pauses before each attempt at a webhook or mail, the first of them 0
    #[arg(long, env = "TOLLGATE_WEBHOOK_SCHEDULE", default_value = "0,5s,5m,30m,2h,5h,10h,14h,20h,24h")]
    pub webhook_schedule: Schedule,
    /// A webhook endpoint that has failed for so long is disabled
    #[arg(long, env = "TOLLGATE_WEBHOOK_DISABLE_AFTER", default_value = "5d", value_parser = duration)]
    pub webhook_disable_after: Duration,
    /// Networks that webhooks may be sent to although they are not public, as CIDR ranges
    #[arg(long, env = "TOLLGATE_WEBHOOK_ALLOW", value_delimiter = ',')]
    pub webhook_allow: Vec<IpNet>,
    /// Where browsers reach the console, such as https://tollgate.example.com: links in mails lead there
    #[arg(long, env = "TOLLGATE_PUBLIC_URL", default_value = "http://localhost:8081", value_parser = console_url)]
    pub public_url: String,
    /// The mail server, such as smtps://user:password@mail.example.com; unset: no mail is sent
    #[arg(long, env = "TOLLGATE_SMTP_URL", hide_env_values = true)]
    pub smtp_url: Option<String>,
    /// The sender of mails, such as Tollgate <quota@example.com>
    #[arg(long, env = "TOLLGATE_MAIL_FROM", default_value = "tollgate@localhost")]
    pub mail_from: String,
}

/// Without a slash at its end.
fn console_url(text: &str) -> Result<String, String> {
    let text = text.trim_end_matches('/');
    let uri: Option<http::Uri> = text.parse().ok();
    match uri {
        Some(uri) if matches!(uri.scheme_str(), Some("http" | "https")) && uri.query().is_none() => Ok(text.to_owned()),
        _ => Err("TOLLGATE_PUBLIC_URL must be a URL such as https://tollgate.example.com".to_owned()),
    }
}

fn secret_key(text: &str) -> Result<SecretKey, String> {
    SecretKey::from_base64(text).map_err(|error| error.to_string())
}

fn sealing_key(text: &str) -> Result<SecretKey, String> {
    let named = |message: String| message.replace("TOLLGATE_SECRET_KEY", "TOLLGATE_SEALING_KEYS");
    SecretKey::from_base64(text).map_err(|error| named(error.to_string()))
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
