//! What is known of projects' use without asking anybody: the newest that a freeze, a record or Postgres told. Old news are
//! good enough for a soft budget; they are renewed beside the requests.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use domain::{Amount, PeriodLabel, Scope};
use parking_lot::Mutex;
use tokio::time::Instant;
use tracing::debug;

use crate::{Quota, Shared};

/// Older news are renewed: other gateways spend too.
const FRESH_FOR: Duration = Duration::from_secs(5);
/// A first request waits so long for Postgres.
const FIRST_WITHIN: Duration = Duration::from_secs(1);
/// Projects remembered.
const MOST: usize = 50_000;

/// How far a budget is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Use {
    /// The budget; none: no limit.
    pub total: Option<Amount>,
    /// What was spent of it.
    pub used: Amount,
}

#[derive(Debug)]
struct Entry {
    version: i64,
    told: Use,
    at: Instant,
}

/// By project and period.
#[derive(Debug, Default)]
pub(crate) struct Known(Mutex<HashMap<Scope, Entry>>);

impl Known {
    /// Takes news of a project in a period; others, and news older than what is known, are passed over.
    pub fn note(&self, scope: &Scope, version: i64, told: Use) {
        self.note_at(scope, version, told, Instant::now());
    }

    fn note_at(&self, scope: &Scope, version: i64, told: Use, at: Instant) {
        if !matches!(scope, Scope::Project(_, label) if *label != PeriodLabel::none()) {
            return;
        }
        let mut entries = self.0.lock();
        if entries.len() >= MOST && !entries.contains_key(scope) {
            entries.retain(|_, entry| at.duration_since(entry.at) < FRESH_FOR);
            if entries.len() >= MOST {
                return;
            }
        }
        let entry = entries.entry(scope.clone()).or_insert(Entry { version, told, at });
        // Versions begin anew after a restore from a backup: then news that are not renewed give way.
        if version >= entry.version || at.duration_since(entry.at) > FRESH_FOR * 4 {
            *entry = Entry { version, told, at };
        }
    }

    /// What is known, and whether it is to be renewed: by this caller alone.
    fn look(&self, scope: &Scope, now: Instant) -> Option<(Use, bool)> {
        let mut entries = self.0.lock();
        let entry = entries.get_mut(scope)?;
        let is_old = now.duration_since(entry.at) > FRESH_FOR;
        if is_old {
            entry.at = now;
        }
        Some((entry.told, is_old))
    }
}

impl Quota {
    /// How far a project's budget was used up when this was last heard of: a few seconds old at most, while Postgres
    /// answers. Waits for Postgres only where nothing is known yet. None where nothing is to be had.
    pub async fn project_use(&self, scope: &Scope) -> Option<Use> {
        let shared = &self.shared;
        match shared.known.look(scope, Instant::now()) {
            Some((told, false)) => Some(told),
            Some((told, true)) => {
                let (shared, scope) = (Arc::clone(shared), scope.clone());
                self.shared.tasks.spawn(async move { shared.hear_of(&scope).await });
                Some(told)
            }
            None => {
                let _ = tokio::time::timeout(FIRST_WITHIN, shared.hear_of(scope)).await;
                shared.known.look(scope, Instant::now()).map(|(told, _)| told)
            }
        }
    }
}

impl Shared {
    async fn hear_of(&self, scope: &Scope) {
        match self.snapshots(std::slice::from_ref(scope)).await {
            Ok(snapshots) => {
                for snapshot in snapshots {
                    let told = Use { total: snapshot.total, used: snapshot.used };
                    self.known.note(&snapshot.scope, snapshot.version, told);
                }
            }
            Err(error) => debug!(%error, %scope, "a project's use could not be read"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_is_known_and_renewed_by_one() {
        let (known, start) = (Known::default(), Instant::now());
        let project = "p_00000000000000000000000007";
        let scope = |label: &str| format!("{project}:{label}").parse::<Scope>().unwrap();
        let told = |units| Use { total: None, used: Amount::new(units).unwrap() };
        let budget = scope("2026-11");
        known.note_at(&budget, 5, told(50), start);
        known.note_at(&budget, 4, told(40), start);
        assert_eq!(known.look(&budget, start), Some((told(50), false)));
        known.note_at(&scope("-"), 5, told(50), start);
        assert_eq!(known.look(&scope("-"), start), None, "no budget, no news");
        let later = start + FRESH_FOR * 2;
        assert_eq!(known.look(&budget, later), Some((told(50), true)));
        assert_eq!(known.look(&budget, later), Some((told(50), false)), "someone renews it");
        let restored = later + FRESH_FOR * 5;
        known.note_at(&budget, 1, told(1), restored);
        assert_eq!(known.look(&budget, restored), Some((told(1), false)), "versions began anew");
    }
}
