//! The breaker: whether Redis is asked at all.
//!
//! Five calls within a second that were not answered in time, or found nobody, open it; from then on no call is sent, so that
//! nobody waits for a Redis that is away. Whoever attached it probes, and closes it once Redis holds what it must hold.
//! A pure state machine but for what waits on it.

use std::collections::VecDeque;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

/// When a breaker opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakerConfig {
    /// Unanswered calls that open it.
    pub failures: usize,
    /// The time within which they fall.
    pub within: Duration,
}

impl Default for BreakerConfig {
    /// The design's: 5 within 1 s.
    fn default() -> Self {
        Self { failures: 5, within: Duration::from_secs(1) }
    }
}

/// Closed: calls pass. Open: none does.
#[derive(Debug)]
pub struct Breaker {
    config: BreakerConfig,
    /// When the last unanswered calls failed, oldest first; at most as many as open it.
    failed: Mutex<VecDeque<Instant>>,
    /// Since when it is open.
    opened: watch::Sender<Option<Instant>>,
    suspicion: Notify,
}

impl Breaker {
    /// Closed.
    #[must_use]
    pub fn new(config: BreakerConfig) -> Self {
        Self { config, failed: Mutex::default(), opened: watch::Sender::new(None), suspicion: Notify::new() }
    }

    /// How it is set.
    #[must_use]
    pub const fn config(&self) -> BreakerConfig {
        self.config
    }

    /// Since when it is open; None: closed.
    #[must_use]
    pub fn opened(&self) -> Option<Instant> {
        *self.opened.borrow()
    }

    /// A call was not answered at `now`. True where that opened it.
    pub fn failed(&self, now: Instant) -> bool {
        let mut failed = self.failed.lock();
        if self.opened().is_some() {
            return false;
        }
        failed.push_back(now);
        while failed.len() > self.config.failures
            || failed.front().is_some_and(|first| now.duration_since(*first) > self.config.within)
        {
            failed.pop_front();
        }
        if failed.len() < self.config.failures {
            self.suspicion.notify_one();
            return false;
        }
        failed.clear();
        self.opened.send_replace(Some(now));
        true
    }

    /// Calls pass again.
    pub fn close(&self) {
        self.failed.lock().clear();
        self.opened.send_replace(None);
    }

    /// Waits until it is open.
    pub async fn until_open(&self) {
        // The sender lives in `self`.
        let _ = self.opened.subscribe().wait_for(Option::is_some).await;
    }

    /// Waits until it is closed.
    pub async fn until_closed(&self) {
        let _ = self.opened.subscribe().wait_for(Option::is_none).await;
    }

    /// Waits for an unanswered call that did not open it: worth a few probes, for with little traffic it would take long.
    pub async fn suspected(&self) {
        self.suspicion.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaker() -> (Breaker, Instant) {
        (Breaker::new(BreakerConfig::default()), Instant::now())
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn five_failures_within_a_second_open_it_and_not_a_spread_of_them() {
        let (breaker, start) = breaker();
        for index in 0..20 {
            assert!(!breaker.failed(start + ms(index * 251)), "never five in one second");
        }
        assert_eq!(breaker.opened(), None);
        let (breaker, start) = self::breaker();
        for index in 0..4 {
            assert!(!breaker.failed(start + ms(index * 250)));
        }
        let fifth = start + ms(1_000);
        assert!(breaker.failed(fifth));
        assert_eq!(breaker.opened(), Some(fifth));
        assert!(!breaker.failed(fifth), "it opens once");
    }

    #[test]
    fn once_closed_it_counts_from_nothing() {
        let (breaker, start) = breaker();
        assert_eq!((0..5).filter(|_| breaker.failed(start)).count(), 1);
        breaker.close();
        assert_eq!(breaker.opened(), None);
        assert_eq!((0..4).filter(|_| breaker.failed(start + ms(1))).count(), 0);
        assert!(breaker.failed(start + ms(2)));
    }

    #[tokio::test]
    async fn who_waits_for_it_is_told() {
        let (breaker, start) = breaker();
        breaker.until_closed().await;
        breaker.failed(start);
        breaker.suspected().await;
        assert!(tokio::time::timeout(ms(20), breaker.until_open()).await.is_err());
        assert_eq!((0..4).filter(|_| breaker.failed(start)).count(), 1);
        breaker.until_open().await;
        assert!(tokio::time::timeout(ms(20), breaker.until_closed()).await.is_err());
        breaker.close();
        breaker.until_closed().await;
    }
}
