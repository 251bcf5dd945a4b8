//! What this gateway last knew of each account, and the share of it that it may hand out while the ledger is away.

use std::collections::HashMap;
use std::time::Duration;

use domain::{Amount, LimitName, LimitUse, Numbers, Scope, Status};
use tokio::time::Instant;

use crate::Refusal;

/// Accounts remembered; above it those not heard of for a while are forgotten.
const MAX: usize = 300_000;
const FORGET_AFTER: Duration = Duration::from_secs(3_600);

/// How much of what was left all gateways together may hand out, and how many they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Portion {
    pub percent: u32,
    pub gateways: u32,
}

impl Portion {
    /// This gateway's share of `left`, rounded down.
    fn of(self, left: i64) -> i64 {
        let part = i128::from(left.max(0)) * i128::from(self.percent) / 100 / i128::from(self.gateways.max(1));
        i64::try_from(part).unwrap_or(i64::MAX)
    }
}

/// One account as it last was.
#[derive(Debug)]
struct Known {
    numbers: Numbers,
    in_flight: Option<i64>,
    max_per_request: Option<i64>,
    /// Told apart from what was known before: a share of older numbers is not given back to this one.
    lesson: u64,
    /// This gateway's share, fixed when it is first needed. None: not yet, or without bound.
    share: Option<i64>,
    taken: i64,
    at: Instant,
}

impl Known {
    fn share(&mut self, portion: Portion) -> Option<i64> {
        let available = self.numbers.available()?;
        Some(*self.share.get_or_insert_with(|| portion.of(available.units())))
    }
}

/// What one request holds of the shares of its accounts.
#[derive(Debug, Default, Clone)]
pub(crate) struct Taken {
    pub units: i64,
    lessons: Vec<(Scope, u64)>,
}

/// What a request asks of the shares.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wish<'a> {
    pub scopes: &'a [Scope],
    /// More than it has.
    pub want: i64,
    pub need: i64,
    /// What it has already.
    pub has: i64,
    /// Whether the shares bound it; in any case they are counted.
    pub is_bounded: bool,
}

/// The accounts that this gateway has heard of.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    known: HashMap<Scope, Known>,
    lessons: u64,
}

impl Accounts {
    /// The ledger told these numbers: shares of older ones are void.
    pub fn learn(&mut self, numbers: &[Numbers], limits: Option<&[LimitUse]>, now: Instant) {
        self.lessons += 1;
        if self.known.len() > MAX {
            self.known.retain(|_, known| now.duration_since(known.at) < FORGET_AFTER);
            if self.known.len() > MAX {
                self.known.clear();
            }
        }
        for numbers in numbers {
            let limit = |name: LimitName| {
                let level = numbers.scope.level();
                limits?.iter().find(|of| of.level == level && of.name == name).map(|of| of.most)
            };
            let mut fresh = Known {
                numbers: numbers.clone(),
                in_flight: limit(LimitName::InFlight),
                max_per_request: limit(LimitName::MaxPerRequest),
                lesson: self.lessons,
                share: None,
                taken: 0,
                at: now,
            };
            match self.known.get_mut(&numbers.scope) {
                Some(known) => {
                    if limits.is_none() {
                        (fresh.in_flight, fresh.max_per_request) = (known.in_flight, known.max_per_request);
                    }
                    *known = fresh;
                }
                None => drop(self.known.insert(numbers.scope.clone(), fresh)),
            }
        }
    }

    pub fn knows(&self, scope: &Scope) -> bool {
        self.known.contains_key(scope)
    }

    /// Scopes not known, or whose totals have changed by themselves since.
    pub fn unknown<'a>(&self, scopes: &'a [Scope], now_ms: i64) -> Vec<&'a Scope> {
        let is_over = |known: &Known| known.numbers.valid_until_ms.is_some_and(|until| until <= now_ms);
        scopes.iter().filter(|scope| self.known.get(scope).is_none_or(is_over)).collect()
    }

    /// Replaces the totals of a scope by those of Postgres; what was frozen is still taken for frozen, and what was handed out
    /// for spent.
    pub fn replace(&mut self, numbers: Numbers, limits: (Option<i64>, Option<i64>), now: Instant) {
        let (frozen, taken) =
            self.known.get(&numbers.scope).map_or((Amount::ZERO, 0), |old| (old.numbers.frozen, old.taken));
        self.lessons += 1;
        let known = Known {
            numbers: Numbers { frozen, ..numbers },
            in_flight: limits.0,
            max_per_request: limits.1,
            lesson: self.lessons,
            share: None,
            taken,
            at: now,
        };
        self.known.insert(known.numbers.scope.clone(), known);
    }

    /// The version of an account as it was last known.
    pub fn version(&self, scope: &Scope) -> i64 {
        self.known.get(scope).map_or(0, |known| known.numbers.version)
    }

    pub fn numbers(&self, scopes: &[Scope]) -> Vec<Numbers> {
        scopes.iter().filter_map(|scope| Some(self.known.get(scope)?.numbers.clone())).collect()
    }

    /// The first account that does not admit, with its status.
    pub fn inactive<'a>(&self, scopes: &'a [Scope]) -> Option<(&'a Scope, Status)> {
        scopes.iter().find_map(|scope| {
            let status = self.known.get(scope)?.numbers.status;
            (status != Status::Active).then_some((scope, status))
        })
    }

    /// The first limit on running requests that is reached: `running` counts this gateway's, in the order of `scopes`.
    pub fn crowded(&self, scopes: &[Scope], running: &[usize], gateways: u32) -> Option<Refusal> {
        scopes.iter().zip(running).find_map(|(scope, running)| {
            let known = self.known.get(scope)?;
            let most = known.in_flight?;
            let own = (most / i64::from(gateways.max(1))).max(1);
            let running = i64::try_from(*running).unwrap_or(i64::MAX);
            (running >= own).then(|| Refusal {
                level: scope.level(),
                limit: LimitName::InFlight.as_str().to_owned(),
                available: Amount::ZERO,
                most: Amount::new(most).ok(),
                numbers: known.numbers.clone(),
                retry_after: Some(Duration::from_secs(1)),
            })
        })
    }

    /// Takes as much as is wanted and left, never less than is needed, out of the share of every account, or nothing.
    ///
    /// # Errors
    /// The account whose share, or whose limit for one request, does not cover the need.
    pub fn take(&mut self, wish: Wish<'_>, portion: Portion) -> Result<Taken, Box<Refusal>> {
        let mut units = wish.want.max(wish.need);
        for scope in wish.scopes {
            let Some(known) = self.known.get_mut(scope) else { continue };
            let share_left = known.share(portion).filter(|_| wish.is_bounded).map(|share| (share - known.taken).max(0));
            let request_left = known.max_per_request.map(|most| (most - wish.has).max(0));
            for (limit, left) in [("quota", share_left), (LimitName::MaxPerRequest.as_str(), request_left)] {
                let Some(left) = left else { continue };
                if left < wish.need {
                    return Err(Box::new(refusal(known, limit, left)));
                }
                units = units.min(left);
            }
        }
        let mut lessons = Vec::with_capacity(wish.scopes.len());
        for scope in wish.scopes {
            let Some(known) = self.known.get_mut(scope) else { continue };
            known.taken = known.taken.saturating_add(units);
            lessons.push((scope.clone(), known.lesson));
        }
        Ok(Taken { units, lessons })
    }

    /// Gives `units` back (takes more where negative) to the accounts that are still known as they were.
    pub fn release(&mut self, taken: &Taken, units: i64) {
        for (scope, lesson) in &taken.lessons {
            if let Some(known) = self.known.get_mut(scope).filter(|known| known.lesson == *lesson) {
                known.taken = known.taken.saturating_sub(units);
            }
        }
    }
}

fn refusal(known: &Known, limit: &str, left: i64) -> Refusal {
    Refusal {
        level: known.numbers.scope.level(),
        limit: limit.to_owned(),
        available: Amount::new(left).unwrap_or(Amount::ZERO),
        most: (limit != "quota").then(|| Amount::new(known.max_per_request.unwrap_or(0)).ok()).flatten(),
        numbers: known.numbers.clone(),
        retry_after: None,
    }
}

impl Taken {
    /// Both together, where the second was taken later by the same request.
    pub fn add(&mut self, more: Self) {
        self.units = self.units.saturating_add(more.units);
        self.lessons = more.lessons;
    }
}

#[cfg(test)]
mod tests {
    use domain::{KeyId, PeriodLabel, TenantId};

    use super::*;

    const TWO: Portion = Portion { percent: 10, gateways: 2 };

    fn numbers(scope: &Scope, limit: Option<i64>, used: i64) -> Numbers {
        let limit = limit.map(|units| Amount::new(units).unwrap());
        Numbers {
            scope: scope.clone(),
            total: limit,
            used: Amount::new(used).unwrap(),
            frozen: Amount::ZERO,
            credit_limit: Amount::ZERO,
            limit,
            version: 7,
            status: Status::Active,
            valid_until_ms: None,
        }
    }

    fn accounts(key_limit: Option<i64>) -> (Accounts, [Scope; 2]) {
        let scopes = [Scope::Key(KeyId::generate(), PeriodLabel::none()), Scope::Tenant(TenantId::generate())];
        let mut accounts = Accounts::default();
        let all = [numbers(&scopes[0], key_limit, 0), numbers(&scopes[1], Some(1_000), 200)];
        accounts.learn(&all, Some(&[]), Instant::now());
        (accounts, scopes)
    }

    fn wish(scopes: &[Scope], want: i64, need: i64) -> Wish<'_> {
        Wish { scopes, want, need, has: 0, is_bounded: true }
    }

    #[test]
    fn a_share_is_a_part_of_what_was_left_and_is_handed_out_once() {
        let (mut accounts, scopes) = accounts(None);
        // 10 % of 800, for two gateways: 40.
        let first = accounts.take(wish(&scopes, 30, 5), TWO).unwrap();
        assert_eq!(first.units, 30);
        let second = accounts.take(wish(&scopes, 30, 5), TWO).unwrap();
        assert_eq!(second.units, 10, "what is left, at least the need");
        let refused = accounts.take(wish(&scopes, 30, 5), TWO).unwrap_err();
        assert_eq!((refused.level.as_str(), refused.available), ("tenant", Amount::ZERO));
        // It cost 12 in the end: 18 can be handed out again, whatever the number of gateways is by now.
        accounts.release(&first, 18);
        assert_eq!(accounts.take(wish(&scopes, 99, 1), Portion { gateways: 1, ..TWO }).unwrap().units, 18);
    }

    #[test]
    fn the_narrowest_account_decides_and_a_refusal_takes_nothing() {
        let (mut accounts, scopes) = accounts(Some(100));
        let refused = accounts.take(wish(&scopes, 30, 6), TWO).unwrap_err();
        assert_eq!((refused.level.as_str(), refused.available), ("key", Amount::new(5).unwrap()));
        assert_eq!(accounts.take(wish(&scopes, 30, 5), TWO).unwrap().units, 5);
        let unbounded = Wish { is_bounded: false, ..wish(&scopes, 500, 5) };
        assert_eq!(accounts.take(unbounded, TWO).unwrap().units, 500, "bypass");
        assert_eq!(accounts.take(wish(&scopes[1..], 99, 1), TWO).unwrap_err().available, Amount::ZERO, "but counted");
    }

    #[test]
    fn fresh_numbers_begin_a_new_share_that_old_requests_do_not_touch() {
        let (mut accounts, scopes) = accounts(None);
        let old = accounts.take(wish(&scopes, 40, 40), TWO).unwrap();
        accounts.learn(&[numbers(&scopes[1], Some(1_000), 600)], None, Instant::now());
        accounts.release(&old, 40);
        assert_eq!(accounts.take(wish(&scopes, 99, 1), TWO).unwrap().units, 20);
    }

    #[test]
    fn what_is_over_is_looked_at_again_and_keeps_what_was_handed_out() {
        let (mut accounts, scopes) = accounts(None);
        let over = Numbers { valid_until_ms: Some(50), ..numbers(&scopes[1], Some(1_000), 200) };
        accounts.learn(std::slice::from_ref(&over), None, Instant::now());
        assert_eq!(accounts.unknown(&scopes, 49), Vec::<&Scope>::new());
        assert_eq!(accounts.unknown(&scopes, 50), [&scopes[1]]);
        accounts.take(wish(&scopes, 30, 30), TWO).unwrap();
        accounts.replace(numbers(&scopes[1], Some(1_000), 400), (Some(4), Some(25)), Instant::now());
        // 10 % of 600 for two is 30, and 30 are gone.
        assert!(accounts.take(wish(&scopes, 1, 1), TWO).is_err());
        assert_eq!(accounts.crowded(&scopes, &[9, 1], 2).map(|refusal| refusal.limit), None);
        assert_eq!(accounts.crowded(&scopes, &[9, 2], 2).unwrap().limit, "in_flight");
        let large = Wish { is_bounded: false, ..wish(&scopes, 40, 26) };
        assert_eq!(accounts.take(large, TWO).unwrap_err().limit, "max_per_request");
    }

    #[test]
    fn an_account_without_a_limit_has_no_share() {
        let scope = [Scope::Tenant(TenantId::generate())];
        let mut accounts = Accounts::default();
        accounts.learn(&[numbers(&scope[0], None, 5)], None, Instant::now());
        assert_eq!(accounts.take(wish(&scope, 1_000_000, 1), TWO).unwrap().units, 1_000_000);
    }
}
