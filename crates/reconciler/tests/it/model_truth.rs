//! The pure model: what is true of one tenant, in a few integers.

use std::collections::BTreeMap;

use domain::RequestId;
use domain::record::Outcome;

use crate::model_grants::Grants;

/// Limits of key, project and tenant.
pub const LIMITS: [i64; 3] = [700, 900, 1000];
/// Requests a minute (of the key), requests at once (of the project), tokens a minute (of the tenant). A run is over long
/// before anything slides out of a minute.
pub const RPM: i64 = 12;
pub const IN_FLIGHT: i64 = 5;
pub const TPM: i64 = 1_500;

/// Tokens wanted per unit wanted.
pub const TOKENS: i64 = 5;

/// Tokens that a request of this charge took.
pub fn taken(charge: i64) -> i64 {
    2 * charge
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    Running,
    Finished,
    Recorded,
}

/// What the model knows of one request.
#[derive(Debug, Clone)]
pub struct Request {
    pub phase: Phase,
    pub want: i64,
    pub need: i64,
    pub frozen: i64,
    pub progress: i64,
    pub charge: i64,
    pub outcome: Outcome,
    /// Tokens reserved of the tenant's rate; None where they were corrected, or Redis lost them.
    pub reserved: Option<i64>,
    /// Of the tenant's account at the freeze.
    pub version: i64,
}

/// What Redis' accounts say.
#[derive(Debug, Clone, Copy)]
pub struct Copied {
    pub total: i64,
    pub used: i64,
    /// Of key and project.
    pub spent: i64,
    pub lapse_version: i64,
    pub lapsed: i64,
}

/// The whole truth, in a few integers.
#[derive(Debug, Default)]
pub struct Model {
    pub requests: BTreeMap<RequestId, Request>,
    /// Requests that are over, with their version, newest last.
    pub over: Vec<(RequestId, i64)>,
    /// Freezes that only a late beat brought back: amount and version.
    pub ghosts: BTreeMap<RequestId, (i64, i64)>,
    pub grants: Grants,
    pub spent: i64,
    /// Charged beyond the freezes: the one thing that may pass a limit.
    pub overruns: i64,
    /// None until loaded in this window.
    pub copy: Option<Copied>,
    /// Requests and tokens counted in this minute.
    pub counted: (i64, i64),
}

impl Model {
    pub fn held(&self) -> i64 {
        self.held_below(i64::MAX)
    }

    /// What is frozen by requests older than `version`.
    pub fn held_below(&self, version: i64) -> i64 {
        let live = self.requests.values().map(|request| (request.frozen, request.version));
        live.chain(self.ghosts.values().copied()).filter(|(_, of)| *of < version).map(|(units, _)| units).sum()
    }

    pub fn truth(&self) -> Copied {
        let Grants { lapse_version, lapsed, .. } = self.grants;
        Copied { total: self.grants.total(), used: self.grants.used(), spent: self.spent, lapse_version, lapsed }
    }

    /// What the tenant has left by this copy, for a freeze of that version (a new one: the largest).
    pub fn left_of_tenant(&self, copy: Copied, version: i64) -> i64 {
        let old = self.held_below(copy.lapse_version);
        let of_lapsed =
            if version < copy.lapse_version { copy.lapsed.max(old.min(copy.lapsed)) } else { old.min(copy.lapsed) };
        copy.total - copy.used - self.held() + of_lapsed
    }

    /// What each scope has left by Redis' copy, the narrowest.
    pub fn left(&self, version: i64) -> i64 {
        let copy = self.copy.unwrap_or_else(|| self.truth());
        let budgets = LIMITS[0].min(LIMITS[1]) - copy.spent - self.held();
        budgets.min(self.left_of_tenant(copy, version))
    }

    pub fn in_flight(&self) -> i64 {
        let running = self.requests.values().filter(|request| request.phase == Phase::Running).count();
        i64::try_from(running + self.ghosts.len()).unwrap()
    }

    /// The limits that forbid a request with these tokens, and how many tokens it is granted otherwise.
    pub fn limited(&self, want: i64, need: i64) -> (Vec<&'static str>, i64) {
        let (left, least) = (TPM - self.counted.1, if want > TPM { need } else { want });
        let all = [("in_flight", self.in_flight() >= IN_FLIGHT), ("rpm", self.counted.0 >= RPM), ("tpm", left < least)];
        (all.into_iter().filter(|(_, forbids)| *forbids).map(|(name, _)| name).collect(), want.min(left))
    }

    pub fn pick(&self, which: usize, phase: Phase) -> Option<RequestId> {
        let ids: Vec<_> =
            self.requests.iter().filter(|(_, request)| request.phase == phase).map(|(id, _)| *id).collect();
        if ids.is_empty() { None } else { Some(ids[which % ids.len()]) }
    }
}
