//! Times, collected.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

/// Microseconds of many calls.
pub struct Latency(Histogram<u64>);

/// What is reported of them, in microseconds.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Quantiles {
    /// Calls.
    pub calls: u64,
    /// Half are faster.
    pub p50_us: u64,
    /// 9 of 10 are faster.
    pub p90_us: u64,
    /// 99 of 100 are faster.
    pub p99_us: u64,
    /// The slowest.
    pub max_us: u64,
}

impl Latency {
    /// None yet.
    ///
    /// # Errors
    /// Never: the precision is a valid one.
    pub fn new() -> anyhow::Result<Self> {
        Ok(Self(Histogram::new(3)?))
    }

    /// Adds a call.
    pub fn add(&mut self, took: Duration) {
        self.0.saturating_record(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
    }

    /// What is reported.
    pub fn quantiles(&self) -> Quantiles {
        Quantiles {
            calls: self.0.len(),
            p50_us: self.0.value_at_quantile(0.5),
            p90_us: self.0.value_at_quantile(0.9),
            p99_us: self.0.value_at_quantile(0.99),
            max_us: self.0.max(),
        }
    }
}
