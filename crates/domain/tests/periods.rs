//! Periods and renewals: known instants over clock changes, and the laws that hold in every zone.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use jiff::Timestamp;
use proptest::prelude::*;
use tollgate_domain::period::{Cycle, CycleError, Period, PeriodKind, Renewal, Zone};

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn zone(name: &str) -> Zone {
    Zone::parse(name).unwrap()
}

fn current(kind: PeriodKind, anchor: Option<i16>, name: &str, instant: &str) -> (String, String, String) {
    let Period { label, start, end } = Cycle::new(kind, anchor).unwrap().current(&zone(name), at(instant));
    (label.as_str().to_owned(), start.to_string(), end.to_string())
}

#[track_caller]
fn check(found: &(String, String, String), expected: [&str; 3]) {
    assert_eq!([found.0.as_str(), found.1.as_str(), found.2.as_str()], expected);
}

#[test]
fn periods_follow_the_zone() {
    use PeriodKind::{Day, Month, Week, Year};
    check(
        &current(Day, None, "Asia/Shanghai", "2026-11-01T15:59:59Z"),
        ["d20261101", "2026-10-31T16:00:00Z", "2026-11-01T16:00:00Z"],
    );
    check(
        &current(Month, None, "Asia/Shanghai", "2026-10-31T16:00:00Z"),
        ["m20261101", "2026-10-31T16:00:00Z", "2026-11-30T16:00:00Z"],
    );
    // Kathmandu is 5 hours and 45 minutes ahead.
    check(
        &current(Month, None, "Asia/Kathmandu", "2026-10-31T18:14:59Z"),
        ["m20261001", "2026-09-30T18:15:00Z", "2026-10-31T18:15:00Z"],
    );
    check(
        &current(Week, None, "UTC", "2026-11-29T23:59:59Z"),
        ["w20261123", "2026-11-23T00:00:00Z", "2026-11-30T00:00:00Z"],
    );
    check(
        &current(Week, Some(7), "UTC", "2026-11-28T12:00:00Z"),
        ["w20261122", "2026-11-22T00:00:00Z", "2026-11-29T00:00:00Z"],
    );
    check(
        &current(Year, Some(401), "UTC", "2026-03-31T12:00:00Z"),
        ["y20250401", "2025-04-01T00:00:00Z", "2026-04-01T00:00:00Z"],
    );
}

#[test]
fn days_of_a_clock_change_are_23_and_25_hours_long() {
    let day = |instant| current(PeriodKind::Day, None, "America/New_York", instant);
    check(&day("2026-03-08T12:00:00Z"), ["d20260308", "2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z"]);
    check(&day("2026-11-01T12:00:00Z"), ["d20261101", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"]);
    check(
        &current(PeriodKind::Month, None, "America/New_York", "2026-11-15T00:00:00Z"),
        ["m20261101", "2026-11-01T04:00:00Z", "2026-12-01T05:00:00Z"],
    );
    // Chile leaves midnight itself out: the day begins at 01:00.
    check(
        &current(PeriodKind::Day, None, "America/Santiago", "2026-09-06T12:00:00Z"),
        ["d20260906", "2026-09-06T04:00:00Z", "2026-09-07T03:00:00Z"],
    );
    // Newfoundland set its clocks back at 00:01: the new day had begun when the evening before came again.
    check(
        &current(PeriodKind::Day, None, "America/St_Johns", "2006-10-29T02:45:00Z"),
        ["d20061029", "2006-10-29T02:30:00Z", "2006-10-30T03:30:00Z"],
    );
    // Samoa left out 30 December 2011 altogether.
    check(
        &current(PeriodKind::Day, None, "Pacific/Apia", "2011-12-30T09:59:59Z"),
        ["d20111229", "2011-12-29T10:00:00Z", "2011-12-30T10:00:00Z"],
    );
    check(
        &current(PeriodKind::Day, None, "Pacific/Apia", "2011-12-30T10:00:00Z"),
        ["d20111231", "2011-12-30T10:00:00Z", "2011-12-31T10:00:00Z"],
    );
}

#[test]
fn a_billing_day_of_31_is_the_last_day_of_shorter_months() {
    let mut instant = at("2027-01-31T00:00:00Z");
    let cycle = Cycle::new(PeriodKind::Month, Some(31)).unwrap();
    let mut days = Vec::new();
    for _ in 0..6 {
        let period = cycle.current(&Zone::utc(), instant);
        days.push(period.label.as_str()[5..].to_owned());
        instant = period.end;
    }
    assert_eq!(days, ["0131", "0228", "0331", "0430", "0531", "0630"]);
    let leap = Cycle::new(PeriodKind::Year, Some(229)).unwrap();
    assert_eq!(leap.current(&Zone::utc(), at("2027-06-01T00:00:00Z")).label.as_str(), "y20270228");
    assert_eq!(leap.current(&Zone::utc(), at("2028-06-01T00:00:00Z")).label.as_str(), "y20280229");
}

#[test]
fn anchors_fit_their_kind() {
    for (kind, anchor, error) in [
        (PeriodKind::Day, 1, CycleError::Day),
        (PeriodKind::Week, 0, CycleError::Week),
        (PeriodKind::Week, 8, CycleError::Week),
        (PeriodKind::Month, 0, CycleError::Month),
        (PeriodKind::Month, 32, CycleError::Month),
        (PeriodKind::Year, 100, CycleError::Year),
        (PeriodKind::Year, 230, CycleError::Year),
        (PeriodKind::Year, 1301, CycleError::Year),
        (PeriodKind::Year, -101, CycleError::Year),
    ] {
        assert_eq!(Cycle::new(kind, Some(anchor)), Err(error), "{kind:?} {anchor}");
    }
}

#[test]
fn renewals_stick_to_day_and_time() {
    let new_york = zone("America/New_York");
    let first = at("2026-01-31T14:30:00Z"); // 09:30
    let renewal = Renewal::sticking_to(PeriodKind::Month, &new_york, first);
    let mut instant = first;
    let mut found = Vec::new();
    for _ in 0..4 {
        instant = renewal.next_after(&new_york, instant);
        found.push(instant.to_string());
    }
    let expected = ["2026-02-28T14:30:00Z", "2026-03-31T13:30:00Z", "2026-04-30T13:30:00Z", "2026-05-31T13:30:00Z"];
    assert_eq!(found, expected);
    assert_eq!(renewal.next_after(&new_york, at("2026-01-01T00:00:00Z")), first);
    let parts = Renewal::from_parts(PeriodKind::Month, renewal.anchor_day(), renewal.micros_of_day());
    assert_eq!(parts, Ok(renewal));
    // 02:30 is left out on 8 March; it comes an hour later, and the next day at its own time again.
    let daily = Renewal::sticking_to(PeriodKind::Day, &new_york, at("2026-03-07T07:30:00Z"));
    let gap = daily.next_after(&new_york, at("2026-03-07T07:30:00Z"));
    assert_eq!(gap, at("2026-03-08T07:30:00Z"));
    assert_eq!(daily.next_after(&new_york, gap), at("2026-03-09T06:30:00Z"));
    // 01:30 comes twice on 1 November; the plan renews once.
    let daily = Renewal::sticking_to(PeriodKind::Day, &new_york, at("2026-10-31T05:30:00Z"));
    let fold = daily.next_after(&new_york, at("2026-10-31T05:30:00Z"));
    assert_eq!(fold, at("2026-11-01T05:30:00Z"));
    assert_eq!(daily.next_after(&new_york, fold), at("2026-11-02T06:30:00Z"));
}

fn any_cycle() -> impl Strategy<Value = Cycle> {
    prop_oneof![
        Just(Cycle::new(PeriodKind::Day, None).unwrap()),
        (1..=7_i16).prop_map(|day| Cycle::new(PeriodKind::Week, Some(day)).unwrap()),
        (1..=31_i16).prop_map(|day| Cycle::new(PeriodKind::Month, Some(day)).unwrap()),
        (1..=12_i16, 1..=28_i16)
            .prop_map(|(month, day)| Cycle::new(PeriodKind::Year, Some(month * 100 + day)).unwrap()),
        Just(Cycle::new(PeriodKind::Year, Some(229)).unwrap()),
    ]
}

fn any_zone() -> impl Strategy<Value = Zone> {
    proptest::sample::select(vec![
        "UTC",
        "Asia/Shanghai",
        "Asia/Kathmandu",
        "America/New_York",
        "America/St_Johns",
        "America/Santiago",
        "Pacific/Apia",
        "Australia/Lord_Howe",
        "Africa/Casablanca",
        "Europe/Dublin",
        "Asia/Tehran",
        "America/Havana",
        "Pacific/Kiritimati",
        "Antarctica/Troll",
        "America/Sao_Paulo",
    ])
    .prop_map(zone)
}

/// From 1925 to 2114, beyond the years whose changes of clock are listed one by one.
fn any_instant() -> impl Strategy<Value = Timestamp> {
    (-1_400_000_000..4_550_000_000_i64).prop_map(|second| Timestamp::from_second(second).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn periods_tile_time(cycle in any_cycle(), zone in any_zone(), instant in any_instant()) {
        let period = cycle.current(&zone, instant);
        prop_assert!(period.start <= instant && instant < period.end, "{:?}", period);
        let last = period.end.checked_sub(jiff::SignedDuration::from_nanos(1)).unwrap();
        prop_assert_eq!(cycle.current(&zone, period.start), period.clone());
        prop_assert_eq!(cycle.current(&zone, last), period.clone());
        let next = cycle.current(&zone, period.end);
        prop_assert_eq!(next.start, period.end, "no gap and no overlap");
        prop_assert!(next.label != period.label);
    }

    #[test]
    fn renewals_come_once_a_period(cycle in any_cycle(), zone in any_zone(), first in any_instant(), after in any_instant()) {
        let renewal = Renewal::sticking_to(cycle.kind(), &zone, first);
        let next = renewal.next_after(&zone, after);
        prop_assert!(next > after);
        let between = after.as_second() + (next.as_second() - after.as_second()) / 2;
        let between = Timestamp::from_second(between).unwrap().max(after);
        prop_assert_eq!(renewal.next_after(&zone, between), next, "no renewal is skipped");
        let then = renewal.next_after(&zone, next);
        let days = then.duration_since(next).as_secs() / 86_400;
        let (least, most) = match cycle.kind() {
            PeriodKind::Day => (0, 2),
            PeriodKind::Week => (5, 8),
            PeriodKind::Month => (26, 32),
            PeriodKind::Year => (363, 367),
        };
        prop_assert!((least..=most).contains(&days), "{} to {}", next, then);
        let parts = Renewal::from_parts(cycle.kind(), renewal.anchor_day(), renewal.micros_of_day()).unwrap();
        prop_assert_eq!(parts.next_after(&zone, after), next);
    }
}
