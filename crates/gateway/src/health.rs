//! Passive health: what the answers to real requests say of targets and of accounts at providers.
//!
//! A target that fails several times in a row is ejected for a while that doubles each time; then one request probes it. An
//! account that is out of funds is parked, and all its targets with it. Neither is ever left out: they are tried last.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use domain::{TargetId, UpstreamId};
use parking_lot::Mutex;
use rand::Rng;
use tokio::time::Instant;

use crate::catalog::Target;

/// The longest pause of a target that goes on failing.
const PAUSE_MAX: Duration = Duration::from_secs(120);

/// When a target counts as ill.
#[derive(Debug, Clone, Copy)]
pub struct HealthConfig {
    /// Failures in a row.
    pub eject_after: u32,
    /// The first pause.
    pub pause: Duration,
    /// How long an account without funds is tried last.
    pub park: Duration,
}

/// What an attempt says of its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// It answered, if only that the request is wrong.
    Well,
    /// It can't be reached, failed, refused the account or had no capacity.
    Failed,
    /// The account at the provider has no funds.
    OutOfFunds,
    /// Nothing: the request never got an answer that tells.
    None,
}

#[derive(Debug, Default)]
struct OfTarget {
    failures: u32,
    /// Until when it is ejected, and for how long that was.
    ejected: Option<(Instant, Duration)>,
    /// A request is probing it since then.
    probed: Option<Instant>,
}

#[derive(Debug, Default)]
struct Known {
    targets: HashMap<TargetId, OfTarget>,
    parked: HashMap<UpstreamId, Instant>,
}

/// What is tried last, and for how long yet.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Ill {
    /// Ejected targets.
    pub targets: Vec<(TargetId, Duration)>,
    /// Parked upstreams.
    pub upstreams: Vec<(UpstreamId, Duration)>,
}

/// The health of all targets, as this gateway sees it.
#[derive(Debug)]
pub struct Health {
    config: HealthConfig,
    known: Mutex<Known>,
}

impl Health {
    /// Everything is well.
    #[must_use]
    pub fn new(config: HealthConfig) -> Self {
        Self { config, known: Mutex::default() }
    }

    /// The order in which targets are tried: by priority, among equals at random by weight; the ejected and parked ones last.
    #[must_use]
    pub fn in_order<R: Ord>(
        &self,
        targets: &[Arc<Target>],
        rank: impl Fn(&Target) -> R,
        now: Instant,
    ) -> Vec<Arc<Target>> {
        let (well, ill): (Vec<_>, Vec<_>) = {
            let mut known = self.known.lock();
            targets.iter().cloned().partition(|target| known.is_well(target, now))
        };
        let mut ordered = drawn(well, &rank);
        ordered.extend(drawn(ill, &rank));
        ordered
    }

    /// Takes in what an attempt said.
    pub fn note(&self, target: &Target, sign: Sign, now: Instant) {
        let mut known = self.known.lock();
        match sign {
            Sign::None => {
                if let Some(of) = known.targets.get_mut(&target.id) {
                    of.probed = None;
                }
            }
            Sign::Well => {
                known.unpark(target);
                if known.targets.remove(&target.id).is_some_and(|of| of.ejected.is_some()) {
                    gauge(target, 0.0);
                    tracing::info!(target = %target.id, "a target serves again");
                }
            }
            Sign::Failed => self.failed(known.targets.entry(target.id).or_default(), target, now),
            Sign::OutOfFunds => {
                let since = known.parked.insert(target.upstream.id, now + self.config.park);
                metrics::gauge!("tollgate_gateway_upstream_parked", "upstream" => target.upstream.id.to_string())
                    .set(1.0);
                metrics::counter!("tollgate_gateway_upstream_parkings_total").increment(1);
                tracing::error!(
                    upstream = %target.upstream.id, base_url = target.upstream.base_url, again = since.is_some(),
                    park_s = self.config.park.as_secs(), "AN ACCOUNT AT A PROVIDER IS OUT OF FUNDS: its targets are tried last for a while"
                );
            }
        }
    }

    /// What is tried last now, and for how long yet.
    #[must_use]
    pub fn ill(&self, now: Instant) -> Ill {
        let known = self.known.lock();
        let left = |until: &Instant| Some(until.duration_since(now)).filter(|left| !left.is_zero());
        let ejected = known.targets.iter().filter_map(|(id, of)| Some((*id, left(&of.ejected?.0)?)));
        let parked = known.parked.iter().filter_map(|(id, until)| Some((*id, left(until)?)));
        Ill { targets: ejected.collect(), upstreams: parked.collect() }
    }

    fn failed(&self, of: &mut OfTarget, target: &Target, now: Instant) {
        of.failures = of.failures.saturating_add(1);
        let pause = match of.ejected {
            // What was sent before it was ejected, or as the last resort, makes no pause longer.
            Some((until, _)) if now < until => return,
            Some((_, before)) => (before * 2).min(PAUSE_MAX),
            None if of.failures < self.config.eject_after => return,
            None => self.config.pause,
        };
        of.ejected = Some((now + pause, pause));
        of.probed = None;
        gauge(target, 1.0);
        metrics::counter!("tollgate_gateway_target_ejections_total").increment(1);
        tracing::warn!(target = %target.id, failures = of.failures, pause_ms = pause.as_millis(), "a target is ejected: it is tried last");
    }
}

impl Known {
    /// Whether it is tried in its turn; where its pause is over, by one request at a time.
    fn is_well(&mut self, target: &Target, now: Instant) -> bool {
        if self.parked.get(&target.upstream.id).is_some_and(|until| now < *until) {
            return false;
        }
        self.unpark(target);
        let Some(of) = self.targets.get_mut(&target.id) else { return true };
        match of.ejected {
            None => true,
            Some((until, _)) if now < until => false,
            // A probe that never told what became of it holds the place no longer than a pause.
            Some((_, pause)) if of.probed.is_some_and(|since| now.duration_since(since) < pause) => false,
            Some(_) => {
                of.probed = Some(now);
                true
            }
        }
    }

    fn unpark(&mut self, target: &Target) {
        if self.parked.remove(&target.upstream.id).is_some() {
            metrics::gauge!("tollgate_gateway_upstream_parked", "upstream" => target.upstream.id.to_string()).set(0.0);
        }
    }
}

fn gauge(target: &Target, value: f64) {
    metrics::gauge!("tollgate_gateway_target_ejected", "target" => target.id.to_string()).set(value);
}

/// By rank; among equals at random by weight.
fn drawn<R: Ord>(mut left: Vec<Arc<Target>>, rank: &impl Fn(&Target) -> R) -> Vec<Arc<Target>> {
    let mut rng = rand::rng();
    let mut ordered = Vec::with_capacity(left.len());
    while let Some(first) = left.iter().map(|target| rank(target)).min() {
        let sum: u32 = left.iter().filter(|target| rank(target) == first).map(|target| target.weight.max(1)).sum();
        let mut ticket = rng.random_range(0..sum.max(1));
        let drawn = left.iter().position(|target| {
            if rank(target) != first {
                return false;
            }
            let weight = target.weight.max(1);
            let hit = ticket < weight;
            ticket = ticket.saturating_sub(weight);
            hit
        });
        ordered.push(left.remove(drawn.unwrap_or_default()));
    }
    ordered
}

#[cfg(test)]
mod tests {
    use domain::price::Multiplier;

    use super::*;
    use crate::catalog::Upstream;

    fn target(upstream: &Arc<Upstream>, priority: i32) -> Arc<Target> {
        Arc::new(Target {
            id: TargetId::generate(),
            upstream: Arc::clone(upstream),
            upstream_model: "m".to_owned(),
            speaks_openai: true,
            speaks_anthropic: false,
            priority,
            weight: 1,
            multiplier: Multiplier::parse("1").unwrap(),
        })
    }

    fn upstream() -> Arc<Upstream> {
        Arc::new(Upstream {
            id: UpstreamId::generate(),
            is_anthropic: false,
            base_url: "http://127.0.0.1:9".to_owned(),
            key: None,
            read_timeout: Duration::ZERO,
            client: reqwest::Client::new(),
        })
    }

    fn by_priority(target: &Target) -> i32 {
        target.priority
    }

    fn health() -> Health {
        let (pause, park) = (Duration::from_secs(5), Duration::from_secs(300));
        Health::new(HealthConfig { eject_after: 3, pause, park })
    }

    #[test]
    fn three_failures_in_a_row_eject_and_the_pause_doubles_until_it_serves() {
        let upstream = upstream();
        let targets = [target(&upstream, 0), target(&upstream, 1)];
        let (health, start) = (health(), Instant::now());
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let first = |seconds| health.in_order(&targets, by_priority, at(seconds))[0].id == targets[0].id;
        for sign in [Sign::Failed, Sign::Failed, Sign::Well, Sign::Failed, Sign::Failed] {
            assert!(first(0));
            health.note(&targets[0], sign, start);
        }
        assert!(first(0), "a success between starts over");
        health.note(&targets[0], Sign::Failed, start);
        assert!(!first(0));
        assert_eq!(health.ill(start).targets, [(targets[0].id, Duration::from_secs(5))]);
        assert_eq!(health.in_order(&targets, by_priority, start).len(), 2, "tried last, never left out");
        health.note(&targets[0], Sign::Failed, at(1)); // as the last resort
        assert!(first(5) && !first(5), "one request probes");
        health.note(&targets[0], Sign::Failed, at(5));
        assert!(!first(10));
        assert!(first(15));
        health.note(&targets[0], Sign::None, at(15));
        assert!(first(15), "a probe that told nothing is made again");
        health.note(&targets[0], Sign::Well, at(15));
        assert!(first(15) && first(15));
    }

    #[test]
    fn an_account_without_funds_is_parked_with_all_its_targets() {
        let (poor, rich) = (upstream(), upstream());
        let targets = [target(&poor, 0), target(&poor, 1), target(&rich, 2)];
        let (health, start) = (health(), Instant::now());
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let order = |seconds| {
            health.in_order(&targets, by_priority, at(seconds)).iter().map(|t| t.priority).collect::<Vec<_>>()
        };
        health.note(&targets[0], Sign::OutOfFunds, start);
        assert_eq!(order(0), [2, 0, 1]);
        assert_eq!(health.ill(at(1)).upstreams, [(poor.id, Duration::from_secs(299))]);
        assert_eq!(health.ill(at(300)), Ill::default());
        assert_eq!(order(299), [2, 0, 1]);
        assert_eq!(order(300), [0, 1, 2]);
        health.note(&targets[1], Sign::OutOfFunds, at(300));
        health.note(&targets[1], Sign::Well, at(301));
        assert_eq!(order(301), [0, 1, 2], "somebody paid");
    }
}
