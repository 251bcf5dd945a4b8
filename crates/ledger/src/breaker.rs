//! The breaker: whether Redis is asked at all.
//!
//! A call that is not answered in time, or finds nobody, raises a suspicion; whoever keeps the breaker then asks Redis itself,
//! for the many late answers of a process that is busy are no outage. Once open no call is sent, so that nobody waits for a
//! Redis that is away. Its keeper probes, and closes it once Redis holds what it must hold.
//! A pure state machine but for what waits on it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

/// When a breaker opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakerConfig {
    /// Questions of its keeper that go unanswered before it opens.
    pub failures: u32,
    /// The time over which they are spread. With the command's time-out, below a second.
    pub spread: Duration,
    /// A connection on which nothing was answered for so long, while calls were under way, is made anew.
    pub silence: Duration,
}

impl Default for BreakerConfig {
    /// 5 within a second, time-outs of 250 ms included; two time-outs of silence.
    fn default() -> Self {
        Self { failures: 5, spread: Duration::from_millis(500), silence: Duration::from_millis(500) }
    }
}

/// Closed: calls pass. Open: none does.
#[derive(Debug)]
pub struct Breaker {
    config: BreakerConfig,
    /// When the first call was sent that was not answered, and when the last one was given up.
    unanswered: Mutex<Option<(Instant, Instant)>>,
    /// Whether `unanswered` holds anything: answers look here first.
    is_suspect: AtomicBool,
    /// Since when it is open.
    opened: watch::Sender<Option<Instant>>,
    suspicion: Notify,
}

impl Breaker {
    /// Closed.
    #[must_use]
    pub fn new(config: BreakerConfig) -> Self {
        Self {
            config,
            unanswered: Mutex::default(),
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

    /// Redis answered a call, with an error perhaps.
    pub fn answered(&self) {
        if self.is_suspect.load(Ordering::Acquire) {
            self.forget();
        }
    }

    /// A call that was sent at `sent` was given up at `now`.
    pub fn failed(&self, sent: Instant, now: Instant) {
        if self.opened().is_some() {
            return;
        }
        let mut unanswered = self.unanswered.lock();
        let since = match *unanswered {
            // What failed long before belongs to something else.
            Some((since, last)) if now.saturating_duration_since(last) <= self.config.silence * 2 => since.min(sent),
            _ => sent,
        };
        *unanswered = Some((since, now));
        self.is_suspect.store(true, Ordering::Release);
        self.suspicion.notify_one();
    }

    /// True where nothing was answered on the connection for too long, though calls were made. Asked once: then it counts anew.
    pub fn was_mute(&self) -> bool {
        let held = *self.unanswered.lock();
        let is_mute = held.is_some_and(|(since, last)| last.saturating_duration_since(since) >= self.config.silence);
        if is_mute {
            self.forget();
        }
        is_mute
    }

    /// From now on no call is sent.
    pub fn open(&self, now: Instant) {
        self.forget();
        self.opened.send_replace(Some(now));
    }

    /// Calls pass again.
    pub fn close(&self) {
        self.forget();
        self.opened.send_replace(None);
    }

    fn forget(&self) {
        let mut unanswered = self.unanswered.lock();
        *unanswered = None;
        self.is_suspect.store(false, Ordering::Release);
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

    /// Waits for a call that is not answered.
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
    fn a_connection_is_mute_after_half_a_second_without_any_answer() {
        let (breaker, start) = breaker();
        for _ in 0..500 {
            breaker.failed(start, start + ms(300)); // a stall makes many late at once
        }
        assert!(!breaker.was_mute());
        breaker.answered();
        breaker.failed(start + ms(350), start + ms(700));
        assert!(!breaker.was_mute(), "an answer came between");
        breaker.failed(start + ms(600), start + ms(850));
        assert!(breaker.was_mute());
        assert!(!breaker.was_mute(), "once");
    }

    #[test]
    fn failures_far_apart_are_not_one_silence() {
        let (breaker, start) = breaker();
        for index in 0..20 {
            let sent = start + ms(index * 1_500);
            breaker.failed(sent, sent + ms(250));
            assert!(!breaker.was_mute());
        }
        assert_eq!(breaker.opened(), None, "only its keeper opens it");
    }

    #[tokio::test]
    async fn who_waits_for_it_is_told() {
        let (breaker, start) = breaker();
        breaker.until_closed().await;
        breaker.failed(start, start + ms(250));
        breaker.suspected().await;
        assert!(tokio::time::timeout(ms(20), breaker.until_open()).await.is_err());
        breaker.open(start);
        breaker.until_open().await;
        assert_eq!(breaker.opened(), Some(start));
        breaker.failed(start, start + ms(900));
        assert!(!breaker.was_mute(), "open, nothing more is held against it");
        assert!(tokio::time::timeout(ms(20), breaker.suspected()).await.is_err());
        assert!(tokio::time::timeout(ms(20), breaker.until_closed()).await.is_err());
        breaker.close();
        breaker.until_closed().await;
    }
}
