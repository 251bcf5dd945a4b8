//! What an account's numbers say to the people who look after it. Pure: who asks has read both copies and the sums.

use crate::amount::{Amount, Unit};
use crate::books::Verdict;
use crate::period::PeriodKind;
use crate::scope::Level;
use crate::snapshot::{Numbers, Status};

/// Consumption of an hour beyond this many times the usual is told.
const UNUSUAL: i128 = 3;
/// An hour that takes less than this part of the total is nothing to be told, however quiet it was before.
const MATTERS_FROM: i128 = 100;
/// A plan of which less than this part is used in 7 days is larger than needed.
const IDLE_BELOW: i128 = 100;

/// How soon somebody should look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grade {
    /// Now: money is at stake.
    Urgent,
    /// Today.
    Warning,
    /// Some day.
    Hint,
}

impl Grade {
    /// The word used in JSON and SQL.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Urgent => "urgent",
            Self::Warning => "warning",
            Self::Hint => "hint",
        }
    }
}

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AlertKind {
    /// More is used and set aside than total, credit line and overdraft allow.
    BeyondLimit,
    /// A sum in Postgres is not the sum of its rows, or was not and the account is still halted.
    SumsDiffer,
    /// Redis knows a version that Postgres does not.
    CopyAhead,
    /// Redis' copy was wrong.
    CopyDiffers,
    /// A threshold of the quota is crossed.
    NearThreshold,
    /// Consumption is unusual.
    UnusualConsumption,
    /// The plan is far larger than what is used of it.
    PlanTooLarge,
}

impl AlertKind {
    /// The word used in JSON and SQL.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BeyondLimit => "beyond_limit",
            Self::SumsDiffer => "sums_differ",
            Self::CopyAhead => "copy_ahead",
            Self::CopyDiffers => "copy_differs",
            Self::NearThreshold => "near_threshold",
            Self::UnusualConsumption => "unusual_consumption",
            Self::PlanTooLarge => "plan_too_large",
        }
    }

    /// How soon somebody should look.
    #[must_use]
    pub const fn grade(self) -> Grade {
        match self {
            Self::BeyondLimit | Self::SumsDiffer | Self::CopyAhead => Grade::Urgent,
            Self::CopyDiffers | Self::NearThreshold | Self::UnusualConsumption => Grade::Warning,
            Self::PlanTooLarge => Grade::Hint,
        }
    }
}

/// What a tenant was charged lately, in units.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Consumption {
    /// In the last hour, up to the last full quarter.
    pub last_hour: i128,
    /// In the 24 hours before that.
    pub day_before: i128,
    /// In the same hour of the day before.
    pub same_hour: i128,
    /// In the last 7 days; none for a tenant that is younger.
    pub week: Option<i128>,
}

/// What is known of an account.
#[derive(Debug, Clone)]
pub struct Facts<'a> {
    /// The four numbers as one reading: what is frozen is not in `used` too.
    pub numbers: &'a Numbers,
    /// The part of `frozen` that grants bear which have ended meanwhile.
    pub excused: Amount,
    /// Debt that a settle may leave without an alert.
    pub tolerated: Amount,
    /// How Redis' copy compares.
    pub verdict: Verdict,
    /// What does not add up, in words.
    pub wrong_sum: Option<&'a str>,
    /// Percent used at which people are warned.
    pub thresholds: &'a [u32],
    /// Nothing is spent here any more: its period is over, or its project or key.
    pub is_over: bool,
    /// What the tenant was charged lately; none for projects and keys.
    pub consumption: Option<Consumption>,
    /// What the tenant's plan gives per period; none for projects and keys.
    pub plan: Option<(Amount, PeriodKind)>,
    /// What amounts count.
    pub unit: Unit,
}

/// Something that people should know, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What.
    pub kind: AlertKind,
    /// What to do, in words.
    pub remedy: String,
}

/// Everything that the facts say.
#[must_use]
pub fn judge(facts: &Facts<'_>) -> Vec<Finding> {
    let found = [
        beyond_limit(facts),
        sums(facts),
        copy(facts.verdict),
        near_threshold(facts),
        unusual(facts),
        plan_too_large(facts),
    ];
    found.into_iter().flatten().collect()
}

fn finding(kind: AlertKind, remedy: impl Into<String>) -> Finding {
    Finding { kind, remedy: remedy.into() }
}

fn units(amount: Amount) -> i128 {
    i128::from(amount.units())
}

fn beyond_limit(facts: &Facts<'_>) -> Option<Finding> {
    let of = facts.numbers;
    let limit = units(of.limit?);
    let spent = units(of.used) + units(of.frozen) - units(facts.excused);
    (!facts.is_over && spent > limit + units(facts.tolerated)).then(|| {
        let remedy = match of.scope.level() {
            Level::Tenant => "add a grant, or raise the credit line or the overdraft",
            Level::Project | Level::Key => "raise the budget by a quota change",
            Level::Pool | Level::Member => "raise the pool's budget",
        };
        let what = "more is used and in flight than may be spent";
        finding(AlertKind::BeyondLimit, format!("{what}: {remedy}; look for overruns among the last requests"))
    })
}

fn sums(facts: &Facts<'_>) -> Option<Finding> {
    let resume = "resume the tenant (POST /tenants/{t}/resume)";
    let remedy = match facts.wrong_sum {
        Some(what) => format!(
            "{what}. The account admits nothing: find out who wrote into the tables, correct them until `tollgate verify` is content, then {resume}"
        ),
        None if facts.numbers.status == Status::Halted => {
            format!("the sums add up again and the account is still halted: {resume}")
        }
        None => return None,
    };
    Some(finding(AlertKind::SumsDiffer, remedy))
}

fn copy(verdict: Verdict) -> Option<Finding> {
    match verdict {
        Verdict::Ahead => Some(finding(
            AlertKind::CopyAhead,
            "PostgreSQL has lost commits that Redis still knows: restore PostgreSQL to a later point, then rebuild the tenant's copy",
        )),
        Verdict::Different | Verdict::FrozenDiffers => Some(finding(
            AlertKind::CopyDiffers,
            "somebody wrote into Redis: find out who. The copy is loaded anew from PostgreSQL, by this comparison or by POST /tenants/{t}/rebuild",
        )),
        Verdict::Equal | Verdict::Absent | Verdict::Behind => None,
    }
}

fn near_threshold(facts: &Facts<'_>) -> Option<Finding> {
    let (total, used) = (units(facts.numbers.total?), units(facts.numbers.used));
    let is_crossed = |percent: &&u32| total > 0 && used * 100 >= total * i128::from(**percent);
    let crossed = facts.thresholds.iter().filter(is_crossed).max()?;
    let remedy = match facts.numbers.scope.level() {
        Level::Tenant => "add a grant before calls are refused",
        Level::Project | Level::Key => "raise the budget before calls are refused",
        Level::Pool | Level::Member => "raise the pool's budget before calls are refused",
    };
    (!facts.is_over).then(|| finding(AlertKind::NearThreshold, format!("{crossed} % of the quota are used: {remedy}")))
}

/// Without consumption to compare with nothing is unusual.
fn unusual(facts: &Facts<'_>) -> Option<Finding> {
    let of = facts.consumption?;
    let total = facts.numbers.total.map_or(0, units);
    let beyond_average = of.day_before > 0 && of.last_hour * 24 > of.day_before * UNUSUAL;
    let beyond_yesterday = of.same_hour > 0 && of.last_hour > of.same_hour * UNUSUAL;
    let matters = of.last_hour > 0 && of.last_hour * MATTERS_FROM >= total;
    (matters && (beyond_average || beyond_yesterday)).then(|| {
        let than = if beyond_average { "the day's average" } else { "the same hour of the day before" };
        let remedy = "ask the tenant whether it expects this; if not, disable the key that spends, or lower its limits";
        finding(AlertKind::UnusualConsumption, format!("the last hour took over 3 times {than}: {remedy}"))
    })
}

/// Names twice what such weeks would use in a period, in whole credits; nothing where that is no smaller plan.
fn plan_too_large(facts: &Facts<'_>) -> Option<Finding> {
    let (plan, kind) = facts.plan?;
    let week = facts.consumption?.week?;
    if week * IDLE_BELOW >= units(plan) {
        return None;
    }
    let weeks = match kind {
        PeriodKind::Day => 1,
        PeriodKind::Week => 2,
        PeriodKind::Month => 9,
        PeriodKind::Year => 105,
    };
    let step = if facts.unit == Unit::Credit { 100_000_000 } else { 1_000 };
    let smaller = (week.max(0) * weeks / step + 1) * step;
    let smaller = Amount::new(i64::try_from(smaller).ok()?).ok().filter(|smaller| *smaller < plan)?;
    let named = smaller.format(facts.unit);
    let remedy = format!("less than 1 % of the plan was used in 7 days: one of {named} per {} would do", kind.as_str());
    Some(finding(AlertKind::PlanTooLarge, remedy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::TenantId;
    use crate::scope::Scope;

    fn amount(units: i64) -> Amount {
        Amount::new(units).unwrap()
    }

    fn numbers(total: i64, limit: i64, used: i64, frozen: i64) -> Numbers {
        Numbers {
            scope: Scope::Tenant(TenantId::from_uuid(uuid::Uuid::nil())),
            total: Some(amount(total)),
            used: amount(used),
            frozen: amount(frozen),
            credit_limit: Amount::ZERO,
            limit: Some(amount(limit)),
            version: 7,
            status: Status::Active,
            valid_until_ms: None,
        }
    }

    fn facts(numbers: &Numbers) -> Facts<'_> {
        Facts {
            numbers,
            excused: Amount::ZERO,
            tolerated: Amount::ZERO,
            verdict: Verdict::Equal,
            wrong_sum: None,
            thresholds: &[90, 100],
            is_over: false,
            consumption: None,
            plan: Some((amount(100_000), PeriodKind::Month)),
            unit: Unit::Token,
        }
    }

    fn kinds(facts: &Facts<'_>) -> Vec<AlertKind> {
        judge(facts).into_iter().map(|finding| finding.kind).collect()
    }

    #[test]
    fn an_account_is_beyond_its_limit_by_what_is_used_and_in_flight() {
        use AlertKind::{BeyondLimit, NearThreshold};
        for (used, frozen, excused, tolerated, expected) in [
            (10_000, 0, 0, 0, &[][..]),
            (89_999, 30_001, 0, 0, &[]),
            (90_000, 30_000, 0, 0, &[NearThreshold]),
            (90_000, 30_001, 0, 0, &[BeyondLimit, NearThreshold]),
            (90_000, 30_001, 1, 0, &[NearThreshold]),
            (120_005, 0, 0, 5, &[NearThreshold]),
            (120_006, 0, 0, 5, &[BeyondLimit, NearThreshold]),
        ] {
            let numbers = numbers(100_000, 120_000, used, frozen);
            let facts = Facts { excused: amount(excused), tolerated: amount(tolerated), ..facts(&numbers) };
            assert_eq!(kinds(&facts), expected, "{used} {frozen} {excused} {tolerated}");
            assert_eq!(kinds(&Facts { is_over: true, ..facts }), [], "what is over warns nobody");
        }
    }

    #[test]
    fn each_verdict_and_each_sum_has_its_alert() {
        use AlertKind::{CopyAhead, CopyDiffers, SumsDiffer};
        let well = numbers(100_000, 100_000, 10_000, 0);
        for (verdict, expected) in [
            (Verdict::Equal, &[][..]),
            (Verdict::Absent, &[]),
            (Verdict::Behind, &[]),
            (Verdict::Ahead, &[CopyAhead]),
            (Verdict::Different, &[CopyDiffers]),
            (Verdict::FrozenDiffers, &[CopyDiffers]),
        ] {
            assert_eq!(kinds(&Facts { verdict, ..facts(&well) }), expected, "{verdict:?}");
        }
        let halted = Numbers { status: Status::Halted, ..well.clone() };
        let wrong = judge(&Facts { wrong_sum: Some("used 3, settled 4"), ..facts(&halted) });
        assert!(wrong[0].kind == SumsDiffer && wrong[0].remedy.starts_with("used 3, settled 4."), "{wrong:?}");
        let mended = judge(&facts(&halted));
        assert!(mended[0].kind == SumsDiffer && mended[0].remedy.contains("add up again"), "{mended:?}");
    }

    #[test]
    fn consumption_is_judged_by_the_day_before_and_the_week() {
        use AlertKind::{PlanTooLarge, UnusualConsumption};
        let well = numbers(100_000, 100_000, 10_000, 0);
        for (last_hour, day_before, same_hour, week, expected) in [
            (3_001, 24_000, 0, None, &[UnusualConsumption][..]),
            (3_000, 24_000, 0, None, &[]),
            (3_001, 48_000, 1_000, None, &[UnusualConsumption]),
            (3_000, 48_000, 1_000, None, &[]),
            (999, 24, 1, None, &[]),
            (1_000, 24, 1, None, &[UnusualConsumption]),
            (5_000, 0, 0, None, &[]),
            (0, 0, 0, Some(999), &[PlanTooLarge]),
            (0, 0, 0, Some(1_000), &[]),
            (0, 0, 0, None, &[]),
        ] {
            let consumption = Some(Consumption { last_hour, day_before, same_hour, week });
            assert_eq!(kinds(&Facts { consumption, ..facts(&well) }), expected, "{consumption:?}");
        }
        let consumption = Some(Consumption { week: Some(150), ..Consumption::default() });
        let of = |plan| judge(&Facts { consumption, plan: Some(plan), ..facts(&well) });
        assert!(of((amount(100_000), PeriodKind::Month))[0].remedy.ends_with("one of 2000 per month would do"));
        assert!(of((amount(100_000), PeriodKind::Year))[0].remedy.ends_with("one of 16000 per year would do"));
        assert_eq!(of((amount(16_000), PeriodKind::Year)), [], "that would be no smaller one");
    }
}
