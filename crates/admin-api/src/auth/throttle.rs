//! Slows down guessing of passwords, without lock-out: the owner of an account that others guess at still signs in from
//! an address that they used before.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use domain::ids::UserId;

use crate::error::{Error, Result};

/// Entries kept at most; beyond, those that are full again go.
const ENTRIES: usize = 50_000;

/// Tries that may be made at once, and how long one takes to come back.
#[derive(Debug, Clone, Copy)]
struct Rate {
    burst: u32,
    every: Duration,
}

/// One account from one address.
const PAIR: Rate = Rate { burst: 5, every: Duration::from_secs(10) };
/// One account from every address that it never used.
const ACCOUNT: Rate = Rate { burst: 20, every: Duration::from_secs(5) };
/// Codes of one person's second factor: whoever tries them has the password.
const CODES: Rate = Rate { burst: 10, every: Duration::from_secs(60) };
/// Every account from one address.
const ADDRESS: Rate = Rate { burst: 30, every: Duration::from_secs(2) };

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Pair(String, String),
    Account(String),
    Address(String),
    Codes(UserId),
}

impl Key {
    const fn rate(&self) -> Rate {
        match self {
            Self::Pair(..) => PAIR,
            Self::Account(_) => ACCOUNT,
            Self::Address(_) => ADDRESS,
            Self::Codes(_) => CODES,
        }
    }
}

/// Counts tries in memory. A key's entry is the instant at which all its tries are back.
#[derive(Debug, Default)]
pub struct Throttle {
    full_at: Mutex<HashMap<Key, Instant>>,
}

impl Throttle {
    /// Takes one try, before the password is looked at. `known`: the account was signed in to from this address lately.
    ///
    /// # Errors
    /// 429 with the seconds to wait.
    pub fn take(&self, account: &str, address: &str, known: bool, now: Instant) -> Result<()> {
        self.take_all(keys(account, address, known), now)
    }

    /// Takes one try at a code of the second factor, before the code is looked at.
    ///
    /// # Errors
    /// 429 with the seconds to wait.
    pub fn take_code(&self, user: UserId, now: Instant) -> Result<()> {
        self.take_all(vec![Key::Codes(user)], now)
    }

    fn take_all(&self, keys: Vec<Key>, now: Instant) -> Result<()> {
        let mut full_at = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        if full_at.len() > ENTRIES {
            full_at.retain(|_, at| *at > now);
        }
        let wait = keys.iter().filter_map(|key| wait(key.rate(), full_at.get(key).copied(), now)).max();
        if let Some(wait) = wait {
            let seconds = wait.as_secs() + 1;
            let detail = format!("too many tries to sign in; wait {seconds} s");
            return Err(
                Error::new(http::StatusCode::TOO_MANY_REQUESTS, "too_many_requests", detail).retry_after(seconds)
            );
        }
        for key in keys {
            let every = key.rate().every;
            let at = full_at.entry(key).or_insert(now);
            *at = (*at).max(now) + every;
        }
        Ok(())
    }

    /// Gives the try back: the password was right.
    pub fn give_back(&self, account: &str, address: &str, known: bool) {
        self.give_all_back(keys(account, address, known));
    }

    /// Gives the try back: the code was right.
    pub fn give_code_back(&self, user: UserId) {
        self.give_all_back(vec![Key::Codes(user)]);
    }

    fn give_all_back(&self, keys: Vec<Key>) {
        let mut full_at = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        for key in keys {
            let every = key.rate().every;
            if let Some(at) = full_at.get_mut(&key) {
                *at = at.checked_sub(every).unwrap_or(*at);
            }
        }
    }
}

fn keys(account: &str, address: &str, known: bool) -> Vec<Key> {
    let account = account.to_lowercase();
    let mut keys = vec![Key::Pair(account.clone(), address.to_owned()), Key::Address(address.to_owned())];
    if !known {
        keys.push(Key::Account(account));
    }
    keys
}

/// How long until a try is there; none: now.
fn wait(rate: Rate, full_at: Option<Instant>, now: Instant) -> Option<Duration> {
    let missing = full_at?.saturating_duration_since(now);
    let bearable = rate.every * (rate.burst - 1);
    missing.checked_sub(bearable).filter(|wait| !wait.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guesses_are_slowed_and_owners_are_not_locked_out() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        let ok = |address: &str, known, at| throttle.take("Owner@a.example", address, known, at).is_ok();
        assert_eq!((0..10).filter(|_| ok("1.1.1.1", false, now)).count(), 5, "a burst of five from one address");
        assert!(ok("1.1.1.1", false, now + Duration::from_secs(11)), "one more after ten seconds");
        assert!(!ok("1.1.1.1", false, now + Duration::from_secs(11)));
        let spread = (0..100).filter(|n| ok(&format!("2.2.2.{n}"), false, now)).count();
        assert!(spread <= 15, "a hundred addresses share the account's rate: {spread}");
        assert!(ok("9.9.9.9", true, now), "the owner's own address still signs in");
        assert!(throttle.take("other@a.example", "3.3.3.3", false, now).is_ok(), "other accounts are not concerned");
    }

    #[test]
    fn codes_are_tried_slowly() {
        let (throttle, user, now) = (Throttle::default(), UserId::generate(), Instant::now());
        assert_eq!((0..100).filter(|_| throttle.take_code(user, now).is_ok()).count(), 10);
        assert!(throttle.take_code(UserId::generate(), now).is_ok());
        throttle.give_code_back(user);
        assert!(throttle.take_code(user, now).is_ok());
    }

    #[test]
    fn one_address_may_not_try_many_accounts() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        let tries =
            (0..100).filter(|n| throttle.take(&format!("{n}@a.example"), "1.1.1.1", false, now).is_ok()).count();
        assert_eq!(tries, 30);
    }

    #[test]
    fn right_passwords_cost_nothing() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        for _ in 0..100 {
            assert!(throttle.take("a", "1.1.1.1", false, now).is_ok());
            throttle.give_back("a", "1.1.1.1", false);
        }
    }
}
