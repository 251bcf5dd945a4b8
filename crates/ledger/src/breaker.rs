//! The breaker: whether Redis is asked at all.
//!
//! Five calls within a second that were not answered in time, or found nobody, open it, if nothing at all was answered for
//! half a second: a stall of this very process makes many calls late at once, but not for long. From then on no call is sent,
//! so that nobody waits for a Redis that is away. Whoever attached it probes, and closes it once Redis holds what it must hold.
//! A pure state machine but for what waits on it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
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
    /// How long nothing was answered, from the sending of the first of them.
    pub silence: Duration,
}

impl Default for BreakerConfig {
    /// 5 within 1 s, and two time-outs of silence.
    fn default() -> Self {
        Self { failures: 5, within: Duration::from_secs(1), silence: Duration::from_millis(500) }
    }
}

/// Closed: calls pass. Open: none does.
#[derive(Debug)]
pub struct Breaker {
    config: BreakerConfig,
    failed: Mutex<Failed>,
    /// Whether `failed` holds anything: answers look here first.
    is_suspect: AtomicBool,
    /// Since when it is open.
    opened: watch::Sender<Option<Instant>>,
    suspicion: Notify,
}

/// Unanswered calls since the last answer.
#[derive(Debug, Default)]
struct Failed {
    /// When they failed, oldest first; at most as many as open it.
    at: VecDeque<Instant>,
    /// When the first of them was sent.
    silent_since: Option<Instant>,
}

impl Breaker {
    /// Closed.
    #[must_use]
    pub fn new(config: BreakerConfig) -> Self {
        Self {
            config,
            failed: Mutex::default(),
            is_suspect: AtomicBool::new(false),
            opened: watch::Sender::new(None),
            suspicion: Notify::new(),
        }
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

    /// Redis answered a call, with an error perhaps: what failed before was no outage.
    pub fn answered(&self) {
        if self.is_suspect.load(Ordering::Acquire) {
            let mut failed = self.failed.lock();
            *failed = Failed::default();
            self.is_suspect.store(false, Ordering::Release);
        }
    }

    /// A call that was sent at `sent` was given up at `now`. True where that opened it.
    pub fn failed(&self, sent: Instant, now: Instant) -> bool {
        let mut failed = self.failed.lock();
        if self.opened().is_some() {
            return false;
        }
        self.is_suspect.store(true, Ordering::Release);
        while failed.at.front().is_some_and(|first| now.duration_since(*first) > self.config.within) {
            failed.at.pop_front();
        }
        if failed.at.is_empty() {
            failed.silent_since = None; // too long ago to belong to this
        }
        let silent_since = failed.silent_since.map_or(sent, |since| since.min(sent));
        failed.silent_since = Some(silent_since);
        failed.at.push_back(now);
        if failed.at.len() > self.config.failures {
            failed.at.pop_front();
        }
        if failed.at.len() < self.config.failures || now.duration_since(silent_since) < self.config.silence {
            self.suspicion.notify_one();
            return false;
        }
        *failed = Failed::default();
        self.is_suspect.store(false, Ordering::Release);
        self.opened.send_replace(Some(now));
        true
    }

    /// Calls pass again.
    pub fn close(&self) {
        *self.failed.lock() = Failed::default();
        self.is_suspect.store(false, Ordering::Release);
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
            let sent = start + ms(index * 251);
            assert!(!breaker.failed(sent, sent + ms(250)), "never five in one second");
        }
        assert_eq!(breaker.opened(), None);
        let (breaker, start) = self::breaker();
        for index in 0..4 {
            let sent = start + ms(index * 200);
            assert!(!breaker.failed(sent, sent + ms(250)));
        }
        let fifth = start + ms(1_000);
        assert!(breaker.failed(start + ms(750), fifth));
        assert_eq!(breaker.opened(), Some(fifth));
        assert!(!breaker.failed(fifth, fifth), "it opens once");
    }

    #[test]
    fn a_stall_that_makes_many_late_at_once_does_not_open_it_and_an_answer_ends_it() {
        let (breaker, start) = breaker();
        for _ in 0..500 {
            assert!(!breaker.failed(start, start + ms(300)));
        }
        breaker.answered();
        for _ in 0..500 {
            assert!(!breaker.failed(start + ms(350), start + ms(700)));
        }
        assert!(breaker.failed(start + ms(600), start + ms(850)), "half a second without any answer");
    }

    #[test]
    fn once_closed_it_counts_from_nothing() {
        let (breaker, start) = breaker();
        let fail = |at: u64| breaker.failed(start, start + ms(at));
        assert_eq!((0..5).filter(|_| fail(500)).count(), 1);
        breaker.close();
        assert_eq!(breaker.opened(), None);
        assert_eq!((0..4).filter(|_| fail(501)).count(), 0);
        assert!(fail(502));
    }

    #[tokio::test]
    async fn who_waits_for_it_is_told() {
        let (breaker, start) = breaker();
        breaker.until_closed().await;
        breaker.failed(start, start + ms(500));
        breaker.suspected().await;
        assert!(tokio::time::timeout(ms(20), breaker.until_open()).await.is_err());
        assert_eq!((0..4).filter(|_| breaker.failed(start, start + ms(500))).count(), 1);
        breaker.until_open().await;
        assert!(tokio::time::timeout(ms(20), breaker.until_closed()).await.is_err());
        breaker.close();
        breaker.until_closed().await;
    }
}
