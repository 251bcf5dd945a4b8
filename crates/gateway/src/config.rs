//! Command-line flags, each with an environment variable.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use domain::api_key::SecretKey;

/// The data plane of Tollgate: relays calls to language models and takes their price out of the caller's quota.
#[derive(Debug, Clone, Parser)]
#[command(name = "tollgate-gateway", version)]
pub struct Config {
    /// Address for callers: `/v1/...`, `/healthz`, `/readyz`.
    #[arg(long, env = "TOLLGATE_LISTEN", default_value = "0.0.0.0:8080")]
    pub listen: SocketAddr,
    /// A certificate chain in PEM form: callers speak TLS from then on. A replaced file is taken up within seconds.
    #[arg(long, env = "TOLLGATE_TLS_CERTIFICATE", requires = "tls_key")]
    pub tls_certificate: Option<PathBuf>,
    /// The certificate's private key in PEM form.
    #[arg(long, env = "TOLLGATE_TLS_KEY", requires = "tls_certificate")]
    pub tls_key: Option<PathBuf>,
    /// Address for Prometheus: `/metrics`.
    #[arg(long, env = "TOLLGATE_METRICS_LISTEN", default_value = "127.0.0.1:9080")]
    pub metrics_listen: SocketAddr,
    /// PostgreSQL, `postgres://user:password@host:port/database`.
    #[arg(long, env = "DATABASE_URL", hide_env_values = true)]
    pub database_url: String,
    /// Redis, `redis://host:port`.
    #[arg(long, env = "REDIS_URL", hide_env_values = true)]
    pub redis_url: String,
    /// The deployment's secret key: 32 bytes in base64, the same for every service.
    #[arg(long, env = "TOLLGATE_SECRET_KEY", hide_env_values = true)]
    pub secret_key: String,
    /// Keys that seal providers' keys and webhooks' secrets, each 32 random bytes in base64, separated by commas: the first
    /// seals, all open. Unset: derived from TOLLGATE_SECRET_KEY, which always opens.
    #[arg(long, env = "TOLLGATE_SEALING_KEYS", hide_env_values = true, value_delimiter = ',', value_parser = sealing_key)]
    pub sealing_keys: Vec<SecretKey>,
    /// This gateway's name in Redis, Postgres and logs; at most 64 of a-z, A-Z, 0-9, `_`, `-` and `.`. Random where none is given.
    #[arg(long, env = "TOLLGATE_GATEWAY_ID", value_parser = gateway_id)]
    pub gateway_id: Option<String>,
    /// Connections to PostgreSQL at most.
    #[arg(long, env = "TOLLGATE_DATABASE_CONNECTIONS", default_value_t = 16, value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub database_connections: u32,
    /// Connections from callers at most; more wait.
    #[arg(long, env = "TOLLGATE_CONNECTIONS", default_value_t = 10_000, value_parser = positive)]
    pub connections: usize,
    /// Seconds for a request's head to arrive.
    #[arg(long, env = "TOLLGATE_HEADER_TIMEOUT_S", default_value = "10", value_parser = seconds)]
    pub header_timeout_s: Duration,
    /// Bytes of a request's head at most.
    #[arg(long, env = "TOLLGATE_HEADER_BYTES", default_value_t = 64 * 1024, value_parser = positive)]
    pub header_bytes: usize,
    /// Seconds for a request's body to arrive.
    #[arg(long, env = "TOLLGATE_BODY_TIMEOUT_S", default_value = "30", value_parser = seconds)]
    pub body_timeout_s: Duration,
    /// Bytes of a request's body at most.
    #[arg(long, env = "TOLLGATE_BODY_BYTES", default_value_t = 32 * 1024 * 1024, value_parser = positive)]
    pub body_bytes: usize,
    /// Bytes of an answer that is not streamed at most.
    #[arg(long, env = "TOLLGATE_REPLY_BYTES", default_value_t = 64 * 1024 * 1024, value_parser = positive)]
    pub reply_bytes: usize,
    /// Seconds that a client may stop reading before it counts as gone.
    #[arg(long, env = "TOLLGATE_CLIENT_STALL_S", default_value = "60", value_parser = seconds)]
    pub client_stall_s: Duration,
    /// Address ranges of the proxies in front, such as `10.0.0.0/8,::1`: only their `X-Forwarded-For` is believed.
    #[arg(long, env = "TOLLGATE_TRUSTED_PROXIES", value_delimiter = ',')]
    pub trusted_proxies: Vec<String>,
    /// Seconds between turning unready on SIGTERM and no longer accepting connections, for load balancers to notice.
    #[arg(long, env = "TOLLGATE_UNREADY_S", default_value = "0", value_parser = seconds)]
    pub unready_s: Duration,
    /// Seconds that running requests get on SIGTERM before their streams are ended.
    #[arg(long, env = "TOLLGATE_DRAIN_S", default_value = "20", value_parser = seconds)]
    pub drain_s: Duration,
    /// Seconds after which cached keys and the catalog are read again, should a notification be lost.
    #[arg(long, env = "TOLLGATE_CACHE_S", default_value = "5", value_parser = seconds)]
    pub cache_s: Duration,
    /// Vocabularies beside the built-in ones: `NAME=PATH,...`, each a `tokenizer.json`; a model's `tokenizer` names one.
    #[arg(long, env = "TOLLGATE_TOKENIZERS", value_delimiter = ',')]
    pub tokenizers: Vec<String>,
    /// Streams at most that are read on after their client has left, for tenants with `drain_on_abort`.
    #[arg(long, env = "TOLLGATE_ABORT_DRAINS", default_value_t = 64)]
    pub abort_drains: usize,
    /// Seconds that such a stream is read on.
    #[arg(long, env = "TOLLGATE_ABORT_DRAIN_S", default_value = "20", value_parser = seconds)]
    pub abort_drain_s: Duration,
    /// What all gateways together may hand out of a quota while Redis is away, in percent of what was left.
    #[arg(long, env = "TOLLGATE_OUTAGE_ALLOWANCE_PERCENT", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub outage_allowance_percent: u32,
    /// Requests of one tenant at once on this gateway while Redis is away.
    #[arg(long, env = "TOLLGATE_OUTAGE_IN_FLIGHT", default_value_t = 100, value_parser = positive)]
    pub outage_in_flight: usize,
    /// Failures in a row after which a target is tried last for a while.
    #[arg(long, env = "TOLLGATE_EJECT_AFTER", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub eject_after: u32,
    /// Seconds that such a target is tried last at first; doubled each time that it fails again.
    #[arg(long, env = "TOLLGATE_EJECT_S", default_value = "5", value_parser = seconds)]
    pub eject_s: Duration,
    /// Seconds that the targets of an upstream without funds are tried last.
    #[arg(long, env = "TOLLGATE_PARK_S", default_value = "300", value_parser = seconds)]
    pub park_s: Duration,
    /// Whether a caller's `Idempotency-Key` makes a retry safe; `false`: the header is ignored.
    #[arg(long, env = "TOLLGATE_IDEMPOTENCY_KEYS", default_value_t = true, action = clap::ArgAction::Set)]
    pub idempotency_keys: bool,
    /// What is logged, such as `info` or `tollgate_gateway=debug`.
    #[arg(long, env = "TOLLGATE_LOG", default_value = "info")]
    pub log: String,
}

fn sealing_key(text: &str) -> Result<SecretKey, String> {
    let named = |message: String| message.replace("TOLLGATE_SECRET_KEY", "TOLLGATE_SEALING_KEYS");
    SecretKey::from_base64(text).map_err(|error| named(error.to_string()))
}

fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<u64>() {
        Ok(seconds) if seconds <= 86_400 => Ok(Duration::from_secs(seconds)),
        _ => Err("must be a whole number of seconds, at most 86400".to_owned()),
    }
}

fn positive(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("must be a whole number of at least 1".to_owned()),
    }
}

fn gateway_id(text: &str) -> Result<String, String> {
    let fits = (1..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b));
    if fits { Ok(text.to_owned()) } else { Err("must be 1 to 64 of a-z, A-Z, 0-9, `_`, `-` and `.`".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    const NEEDED: [&str; 7] =
        ["tollgate-gateway", "--database-url", "postgres://x", "--redis-url", "redis://x", "--secret-key", "x"];

    #[test]
    fn every_flag_has_an_environment_variable() {
        for argument in Config::command().get_arguments().filter(|a| !matches!(a.get_id().as_str(), "help" | "version"))
        {
            assert!(argument.get_env().is_some(), "{}", argument.get_id());
        }
        assert_eq!(Config::try_parse_from(NEEDED).unwrap().drain_s, Duration::from_secs(20));
    }

    #[test]
    fn wrong_values_stop_the_start() {
        for wrong in [
            ["--drain-s", "-1"],
            ["--drain-s", "1.5"],
            ["--connections", "0"],
            ["--gateway-id", "a b"],
            ["--tls-certificate", "chain.pem"],
            ["--listen", "nowhere"],
        ] {
            assert!(Config::try_parse_from(NEEDED.into_iter().chain(wrong)).is_err(), "{wrong:?}");
        }
    }
}
