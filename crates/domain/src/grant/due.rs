//! What the passing of time does to a tenant's grants.

use jiff::Timestamp;

use crate::amount::Amount;
use crate::ids::GrantId;
use crate::period::{Renewal, Zone};

use super::{GrantBalance, GrantStatus};

/// Renewals worked off by one call of [`due`]; a tenant that slept longer is brought up to date by further calls.
pub const MAX_RENEWALS: usize = 400;

/// A plan: a grant that comes again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// What each renewal gives.
    pub amount: Amount,
    /// Priority of the grants it makes.
    pub priority: i32,
    /// The next renewal.
    pub renews_at: Timestamp,
    /// The day and time that renewals stick to.
    pub renewal: Renewal,
    /// The tenant's zone.
    pub zone: Zone,
}

/// One thing that has to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The grant's end has passed: its amount and its spending leave the account together.
    Lapse(GrantId),
    /// The grant's beginning has come: its amount joins the account.
    Start(GrantId),
    /// The plan gives a new grant for this span. One whose end has passed too has only repaid what was owed: give it and
    /// let it lapse in the same transaction.
    Renew {
        /// From the renewal.
        starts_at: Timestamp,
        /// Until the next one.
        ends_at: Timestamp,
    },
}

/// A change and the instant at which it became due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueChange {
    /// When.
    pub at: Timestamp,
    /// What.
    pub change: Change,
}

/// What has to happen now, in order, and when to look again.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Due {
    /// Oldest first; at one instant what ends comes before what begins.
    pub changes: Vec<DueChange>,
    /// The plan's next renewal after these changes.
    pub renews_at: Option<Timestamp>,
    /// The next instant at which the totals change by themselves; none: never. Already past only if more than
    /// [`MAX_RENEWALS`] were due: then call again after these changes.
    pub valid_until: Option<Timestamp>,
}

/// What is due on these grants and this plan at `at`, ends and beginnings at that very instant included.
#[must_use]
pub fn due(grants: &[GrantBalance], plan: Option<&Plan>, at: Timestamp) -> Due {
    let mut changes = Vec::new();
    let mut next = Next::default();
    let mut until = at;
    let mut renews_at = plan.map(|plan| plan.renews_at);
    if let Some(plan) = plan {
        let mut renewal = plan.renews_at;
        while renewal <= at {
            if changes.len() == MAX_RENEWALS {
                // Stop the clock just before the renewal that is left over, so that everything stays in order.
                until = renewal.checked_sub(jiff::SignedDuration::from_nanos(1)).unwrap_or(renewal);
                break;
            }
            let ends_at = plan.renewal.next_after(&plan.zone, renewal);
            changes.push(DueChange { at: renewal, change: Change::Renew { starts_at: renewal, ends_at } });
            renewal = ends_at;
        }
        renews_at = Some(renewal);
        next.see(renewal);
    }
    for grant in grants {
        let begins = grant.status == GrantStatus::Pending;
        if begins && grant.starts_at > until {
            next.see(grant.starts_at);
            continue;
        }
        if begins {
            changes.push(DueChange { at: grant.starts_at, change: Change::Start(grant.id) });
        }
        if begins || grant.status == GrantStatus::InForce {
            match grant.ends_at {
                Some(end) if end <= until => changes.push(DueChange { at: end, change: Change::Lapse(grant.id) }),
                Some(end) => next.see(end),
                None => {}
            }
        }
    }
    changes.sort_by_key(|due| (due.at, !matches!(due.change, Change::Lapse(_))));
    Due { changes, renews_at, valid_until: next.0 }
}

#[derive(Default)]
struct Next(Option<Timestamp>);

impl Next {
    fn see(&mut self, instant: Timestamp) {
        self.0 = Some(self.0.map_or(instant, |earlier| earlier.min(instant)));
    }
}

#[cfg(test)]
mod tests {
    use super::super::GrantKind;
    use super::*;
    use crate::period::PeriodKind;
    use proptest::prelude::*;
    use uuid::Uuid;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn grant(id: u128, status: GrantStatus, starts: &str, ends: Option<&str>) -> GrantBalance {
        GrantBalance {
            id: GrantId::from_uuid(Uuid::from_u128(id)),
            kind: GrantKind::Temporary,
            priority: 20,
            amount: Amount::new(10).unwrap(),
            used: Amount::ZERO,
            starts_at: at(starts),
            ends_at: ends.map(at),
            created_at: at(starts),
            status,
        }
    }

    fn monthly(renews_at: &str) -> Plan {
        let zone = Zone::parse("UTC").unwrap();
        let renews_at = at(renews_at);
        let renewal = Renewal::sticking_to(PeriodKind::Month, &zone, renews_at);
        Plan { amount: Amount::new(100).unwrap(), priority: 30, renews_at, renewal, zone }
    }

    #[test]
    fn nothing_to_do_says_when_to_look_again() {
        let grants = [
            grant(1, GrantStatus::InForce, "2026-01-01T00:00:00Z", Some("2026-02-01T00:00:00Z")),
            grant(2, GrantStatus::Pending, "2026-01-15T00:00:00Z", None),
            grant(3, GrantStatus::Lapsed, "2025-01-01T00:00:00Z", Some("2025-02-01T00:00:00Z")),
            grant(4, GrantStatus::Ended, "2025-01-01T00:00:00Z", Some("2025-02-01T00:00:00Z")),
        ];
        let due = due(&grants, None, at("2026-01-10T00:00:00Z"));
        assert_eq!(due, Due { changes: vec![], renews_at: None, valid_until: Some(at("2026-01-15T00:00:00Z")) });
        assert_eq!(super::due(&[], None, at("2026-01-10T00:00:00Z")), Due::default());
    }

    #[test]
    fn a_plan_renews_at_the_instant_at_which_its_grant_ends() {
        let old = grant(1, GrantStatus::InForce, "2026-01-31T08:00:00Z", Some("2026-02-28T08:00:00Z"));
        let mut plan = monthly("2026-01-31T08:00:00Z");
        plan.renews_at = at("2026-02-28T08:00:00Z");
        let due = due(std::slice::from_ref(&old), Some(&plan), at("2026-02-28T08:00:00Z"));
        let (starts_at, ends_at) = (at("2026-02-28T08:00:00Z"), at("2026-03-31T08:00:00Z"));
        assert_eq!(
            due.changes,
            [
                DueChange { at: starts_at, change: Change::Lapse(old.id) },
                DueChange { at: starts_at, change: Change::Renew { starts_at, ends_at } },
            ]
        );
        assert_eq!((due.renews_at, due.valid_until), (Some(ends_at), Some(ends_at)));
    }

    #[test]
    fn a_tenant_that_slept_gets_each_renewal_in_order() {
        let plan = monthly("2026-01-01T00:00:00Z");
        let slept = grant(1, GrantStatus::Pending, "2026-01-10T00:00:00Z", Some("2026-01-20T00:00:00Z"));
        let due = due(std::slice::from_ref(&slept), Some(&plan), at("2026-03-15T00:00:00Z"));
        let order: Vec<(String, &str)> = due
            .changes
            .iter()
            .map(|due| {
                let what = match due.change {
                    Change::Lapse(_) => "lapse",
                    Change::Start(_) => "start",
                    Change::Renew { .. } => "renew",
                };
                (due.at.to_string()[..10].to_owned(), what)
            })
            .collect();
        let expected = [
            ("2026-01-01", "renew"),
            ("2026-01-10", "start"),
            ("2026-01-20", "lapse"),
            ("2026-02-01", "renew"),
            ("2026-03-01", "renew"),
        ];
        assert_eq!(order, expected.map(|(day, what)| (day.to_owned(), what)));
        assert_eq!(due.valid_until, Some(at("2026-04-01T00:00:00Z")));
    }

    #[test]
    fn a_very_long_sleep_is_worked_off_in_several_calls() {
        let zone = Zone::parse("Asia/Shanghai").unwrap();
        let renews_at = at("2020-01-01T00:00:00Z");
        let renewal = Renewal::sticking_to(PeriodKind::Day, &zone, renews_at);
        let mut plan = Plan { amount: Amount::new(1).unwrap(), priority: 30, renews_at, renewal, zone };
        let later = grant(1, GrantStatus::Pending, "2023-01-01T00:00:00Z", None);
        let now = at("2024-01-01T00:00:00Z");
        let mut renewals = 0;
        let mut starts = 0;
        let mut grants = vec![later];
        let mut reached = Timestamp::MIN;
        for _ in 0..10 {
            let due = due(&grants, Some(&plan), now);
            assert!(due.changes.is_sorted_by_key(|due| due.at));
            assert!(due.changes.first().is_none_or(|first| first.at >= reached), "nothing is done out of turn");
            reached = due.changes.last().map_or(reached, |last| last.at);
            renewals += due.changes.iter().filter(|due| matches!(due.change, Change::Renew { .. })).count();
            for change in &due.changes {
                if matches!(change.change, Change::Start(_)) {
                    grants[0].status = GrantStatus::InForce;
                    starts += 1;
                }
            }
            plan.renews_at = due.renews_at.unwrap();
            if due.valid_until.is_some_and(|next| next > now) {
                break;
            }
        }
        assert_eq!(
            (renewals, starts),
            (4 * 365 + 1 + 1, 1),
            "each day once, the leap day and the last instant included"
        );
    }

    proptest! {
        /// Looking often and looking once lead to the same changes.
        #[test]
        fn looking_twice_changes_nothing(
            spans in proptest::collection::vec((0..100_i64, proptest::option::of(1..100_i64), any::<bool>()), 0..6),
            first in 0..120_i64, second in 0..120_i64,
        ) {
            let day = |days: i64| Timestamp::from_second(days * 86_400).unwrap();
            let grants: Vec<GrantBalance> = spans.into_iter().zip(1..).map(|((starts, length, running), id)| {
                let mut grant = grant(id, GrantStatus::Pending, "1970-01-01T00:00:00Z", None);
                grant.starts_at = day(starts);
                grant.ends_at = length.map(|length| day(starts + length));
                if running { grant.status = GrantStatus::InForce; }
                grant
            }).collect();
            let (first, second) = (day(first.min(second)), day(first.max(second)));
            let at_once = due(&grants, None, second);
            let once = due(&grants, None, first);
            let mut stepped = grants.clone();
            for done in &once.changes {
                for grant in &mut stepped {
                    match done.change {
                        Change::Lapse(id) if id == grant.id => grant.status = GrantStatus::Lapsed,
                        Change::Start(id) if id == grant.id => grant.status = GrantStatus::InForce,
                        _ => {}
                    }
                }
            }
            prop_assert!(due(&stepped, None, first).changes.is_empty());
            prop_assert!(once.valid_until.is_none_or(|next| next > first));
            let then = due(&stepped, None, second);
            let mut both = [once.changes, then.changes].concat();
            both.sort_by_key(|due| (due.at, !matches!(due.change, Change::Lapse(_))));
            let mut all = at_once.changes;
            let key = |due: &DueChange| (due.at, format!("{:?}", due.change));
            both.sort_by_key(key);
            all.sort_by_key(key);
            prop_assert_eq!(both, all);
            prop_assert_eq!(then.valid_until, at_once.valid_until);
        }
    }
}
