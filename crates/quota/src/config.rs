//! The times that the protocol rests on.

use std::time::Duration;

/// Settings of one gateway's quota. The defaults are the design's; tests shorten them together.
#[derive(Debug, Clone)]
pub struct Config {
    /// Names this process in freezes and in Postgres. Unique for each start, so that a restart never beats for its predecessor.
    pub gateway_id: String,
    /// How to reach Redis.
    pub ledger: ledger::Config,
    /// Time between two beats of a freeze.
    pub beat_interval: Duration,
    /// How long a freeze lives without a beat.
    pub lease: Duration,
    /// How long a recovery window lasts: longer than beat interval + `max_reply_age` + delivery.
    pub recovery_wait: Duration,
    /// A FROZEN reply older than this counts as unknown.
    pub max_reply_age: Duration,
    /// An admission that has no answer after this is given up with 503.
    pub admit_timeout: Duration,
    /// When Redis counts as away.
    pub breaker: ledger::BreakerConfig,
    /// Time between two probes of a Redis that is away. Well below `recovery_wait`: running requests are beaten after a probe.
    pub probe_interval: Duration,
    /// What all gateways together may hand out while Redis is away, percent of what was left.
    pub allowance_percent: u32,
    /// Requests of one tenant at once on this gateway while Redis is away.
    pub outage_in_flight: usize,
    /// A record transaction without an answer after this is made again. Below half a lease, above the statement's time-out.
    pub record_timeout: Duration,
    /// Outcomes waiting for Postgres at most; above it nothing is admitted.
    pub max_backlog: usize,
}

impl Config {
    /// The design's times: beats every 2 s, a lease of 30 s, windows of 3 s, replies of 500 ms.
    #[must_use]
    pub fn new(gateway_id: impl Into<String>, redis_url: impl Into<String>) -> Self {
        Self {
            gateway_id: gateway_id.into(),
            ledger: ledger::Config::new(redis_url),
            beat_interval: Duration::from_secs(2),
            lease: Duration::from_secs(30),
            recovery_wait: Duration::from_secs(3),
            max_reply_age: Duration::from_millis(500),
            admit_timeout: Duration::from_secs(12),
            breaker: ledger::BreakerConfig::default(),
            probe_interval: Duration::from_secs(1),
            allowance_percent: 10,
            outage_in_flight: 100,
            record_timeout: Duration::from_secs(12),
            max_backlog: 50_000,
        }
    }
}
