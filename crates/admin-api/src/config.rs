//! Configuration: flags, each with an environment variable. Wrong values stop the start with the variable's name.

use std::net::SocketAddr;

use clap::Parser;
use domain::api_key::SecretKey;
use ipnet::IpNet;

/// The admin API and the console of Tollgate.
#[derive(Debug, Clone, Parser)]
#[command(name = "tollgate-admin-api", version)]
pub struct Config {
    /// Address of the API and the console.
    #[arg(long, env = "TOLLGATE_ADMIN_LISTEN", default_value = "0.0.0.0:8081")]
    pub listen: SocketAddr,

    /// Address of the Prometheus metrics, at /metrics.
    #[arg(long, env = "TOLLGATE_ADMIN_METRICS_LISTEN", default_value = "127.0.0.1:9081")]
    pub metrics_listen: SocketAddr,

    /// PostgreSQL, as postgres://user:password@host:port/database; a role that is a member of tollgate_app.
    #[arg(long, env = "DATABASE_URL", hide_env_values = true)]
    pub database_url: String,

    /// Redis, as redis://user:password@host:port/.
    #[arg(long, env = "REDIS_URL", hide_env_values = true)]
    pub redis_url: String,

    /// 32 random bytes in base64, the same for every service of the deployment.
    #[arg(long, env = "TOLLGATE_SECRET_KEY", hide_env_values = true, value_parser = secret_key)]
    pub secret_key: SecretKey,

    /// Keys that seal providers' keys and webhooks' secrets, each 32 random bytes in base64, separated by commas: the first
    /// seals, all open. Unset: derived from TOLLGATE_SECRET_KEY, which always opens.
    #[arg(long, env = "TOLLGATE_SEALING_KEYS", hide_env_values = true, value_delimiter = ',', value_parser = sealing_key)]
    pub sealing_keys: Vec<SecretKey>,

    /// Where browsers reach the console, such as https://tollgate.example.com: the only origin whose changes are taken.
    /// Unset: the origin must be the address that the browser asked.
    #[arg(long, env = "TOLLGATE_PUBLIC_URL", value_parser = origin)]
    pub public_url: Option<String>,

    /// Where applications reach the gateway, such as https://api.tollgate.example.com: for the snippets that the console
    /// shows. Unset: the gateway's usual port beside the console.
    #[arg(long, env = "TOLLGATE_GATEWAY_URL", value_parser = url)]
    pub gateway_url: Option<String>,

    /// Where this service itself reaches the gateway, for the console's playground. Unset: TOLLGATE_GATEWAY_URL.
    #[arg(long, env = "TOLLGATE_GATEWAY_INTERNAL_URL", value_parser = url)]
    pub gateway_internal_url: Option<String>,

    /// Addresses of proxies whose X-Forwarded-For is believed, as CIDR ranges.
    #[arg(long, env = "TOLLGATE_TRUSTED_PROXIES", value_delimiter = ',')]
    pub trusted_proxies: Vec<IpNet>,

    /// How long the secret before a rotation signs webhooks too, in seconds.
    #[arg(long, env = "TOLLGATE_WEBHOOK_SECRET_OVERLAP_S", default_value_t = 86_400, value_parser = clap::value_parser!(u64).range(0..=31_536_000))]
    pub webhook_secret_overlap_s: u64,

    /// Connections to PostgreSQL at most.
    #[arg(long, env = "TOLLGATE_DATABASE_CONNECTIONS", default_value_t = 16, value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub database_connections: u32,

    /// What is logged, such as info or info,tollgate_admin_api=debug.
    #[arg(long, env = "TOLLGATE_LOG", default_value = "info")]
    pub log: String,
}

fn secret_key(text: &str) -> Result<SecretKey, String> {
    SecretKey::from_base64(text).map_err(|error| error.to_string())
}

fn sealing_key(text: &str) -> Result<SecretKey, String> {
    let named = |message: String| message.replace("TOLLGATE_SECRET_KEY", "TOLLGATE_SEALING_KEYS");
    SecretKey::from_base64(text).map_err(|error| named(error.to_string()))
}

/// A URL without query, without a slash at its end.
fn url(text: &str) -> Result<String, String> {
    let text = text.trim_end_matches('/');
    let uri: Option<http::Uri> = text.parse().ok();
    match uri {
        Some(uri)
            if matches!(uri.scheme_str(), Some("http" | "https"))
                && uri.authority().is_some()
                && uri.query().is_none() =>
        {
            Ok(text.to_owned())
        }
        _ => Err("must be a URL such as https://api.tollgate.example.com".to_owned()),
    }
}

/// Scheme, host and port of a URL; a path other than `/` is a mistake.
fn origin(text: &str) -> Result<String, String> {
    let wrong =
        || "TOLLGATE_PUBLIC_URL must be an origin such as https://tollgate.example.com, without a path".to_owned();
    let uri: http::Uri = text.trim_end_matches('/').parse().map_err(|_| wrong())?;
    match (uri.scheme_str(), uri.authority(), uri.path()) {
        (Some(scheme @ ("http" | "https")), Some(authority), "" | "/") => {
            Ok(format!("{scheme}://{authority}").to_lowercase())
        }
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

    fn parse(more: &[&str]) -> Result<Config, String> {
        let base = ["x", "--database-url", "postgres://a", "--redis-url", "redis://b", "--secret-key", KEY];
        Config::try_parse_from(base.iter().chain(more)).map_err(|error| error.to_string())
    }

    #[test]
    fn wrong_values_name_their_flag() {
        assert!(parse(&[]).is_ok());
        assert_eq!(
            parse(&["--public-url", "HTTPS://A.example/"]).unwrap().public_url.as_deref(),
            Some("https://a.example")
        );
        for (flag, value) in [
            ("--listen", "8081"),
            ("--metrics-listen", "x"),
            ("--public-url", "tollgate.example.com"),
            ("--public-url", "https://a/b"),
            ("--gateway-url", "api.example.com"),
            ("--gateway-internal-url", "ftp://gateway"),
            ("--trusted-proxies", "10.0.0.0/40"),
            ("--database-connections", "0"),
        ] {
            assert!(parse(&[flag, value]).unwrap_err().contains(flag), "{flag} {value}");
        }
        let missing = Config::try_parse_from(["x"]).unwrap_err().to_string();
        for flag in ["--database-url", "--redis-url", "--secret-key"] {
            assert!(missing.contains(flag), "{missing}");
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        assert!(!format!("{:?}", parse(&[]).unwrap().secret_key).contains("MDEy"));
    }
}
