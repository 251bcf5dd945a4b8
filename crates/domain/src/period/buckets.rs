//! Buckets: the hours, days or months of a zone that cover a stretch of time, for reports.

use jiff::{SignedDuration, Timestamp};

use super::{Cycle, PeriodKind, Zone};

/// What a report sums by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BucketKind {
    /// An hour of the zone's clock.
    Hour,
    /// A calendar day.
    Day,
    /// A calendar month.
    Month,
}

impl BucketKind {
    /// The first instants of the buckets that cover `from` up to, not including, `to`, and at the end the first instant after
    /// them. `None` where these would be more than `most`, or `to` is not after `from`.
    #[must_use]
    pub fn bounds(self, zone: &Zone, from: Timestamp, to: Timestamp, most: usize) -> Option<Vec<Timestamp>> {
        if to <= from {
            return None;
        }
        let mut bounds = vec![self.start(zone, from)];
        while let Some(last) = bounds.last().copied().filter(|last| *last < to) {
            let next = self.next(zone, last);
            if bounds.len() > most || next <= last {
                return None;
            }
            bounds.push(next);
        }
        Some(bounds)
    }

    fn start(self, zone: &Zone, at: Timestamp) -> Timestamp {
        match self.cycle() {
            Some(cycle) => cycle.current(zone, at).start,
            None => hour(zone, at),
        }
    }

    fn next(self, zone: &Zone, start: Timestamp) -> Timestamp {
        match self.cycle() {
            Some(cycle) => cycle.current(zone, start).end,
            // By the hour that has passed, so that the hour that a clock change repeats comes twice.
            None => {
                let later = start.saturating_add(SignedDuration::from_hours(1)).unwrap_or(Timestamp::MAX);
                hour(zone, later)
            }
        }
    }

    fn cycle(self) -> Option<Cycle> {
        let kind = match self {
            Self::Hour => return None,
            Self::Day => PeriodKind::Day,
            Self::Month => PeriodKind::Month,
        };
        Cycle::new(kind, None).ok()
    }
}

/// The full hour of the zone's clock at or before an instant.
fn hour(zone: &Zone, at: Timestamp) -> Timestamp {
    let civil = zone.civil(at);
    let since = SignedDuration::from_secs(i64::from(civil.minute()) * 60 + i64::from(civil.second()))
        + SignedDuration::from_nanos(i64::from(civil.subsec_nanosecond()));
    at.checked_sub(since).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(kind: BucketKind, zone: &str, from: &str, to: &str) -> Vec<String> {
        let zone = Zone::parse(zone).unwrap();
        let found = kind.bounds(&zone, from.parse().unwrap(), to.parse().unwrap(), 100);
        found.unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn whole_buckets_of_the_zone_cover_the_stretch() {
        use BucketKind::{Day, Hour, Month};
        assert_eq!(
            bounds(Hour, "Asia/Kathmandu", "2026-11-30T12:20:00Z", "2026-11-30T13:20:00Z"),
            ["2026-11-30T12:15:00Z", "2026-11-30T13:15:00Z", "2026-11-30T14:15:00Z"]
        );
        assert_eq!(
            bounds(Day, "Asia/Shanghai", "2026-11-30T12:00:00Z", "2026-11-30T16:00:00Z"),
            ["2026-11-29T16:00:00Z", "2026-11-30T16:00:00Z"]
        );
        assert_eq!(
            bounds(Month, "America/New_York", "2026-10-31T00:00:00Z", "2026-11-01T04:00:00Z"),
            ["2026-10-01T04:00:00Z", "2026-11-01T04:00:00Z"]
        );
        // The clock goes back at 06:00 UTC: that day has 25 hours, each its own.
        let back = bounds(Hour, "America/New_York", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z");
        assert_eq!(back.len(), 26);
        assert_eq!(bounds(Day, "America/New_York", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z").len(), 2);
    }

    #[test]
    fn too_many_and_none_are_refused() {
        let zone = Zone::utc();
        let (from, to) = ("2026-01-01T00:00:00Z".parse().unwrap(), "2027-01-01T00:00:00Z".parse().unwrap());
        assert!(BucketKind::Hour.bounds(&zone, from, to, 8_000).is_none());
        assert_eq!(BucketKind::Hour.bounds(&zone, from, to, 8_760).unwrap().len(), 8_761);
        assert!(BucketKind::Day.bounds(&zone, from, from, 10).is_none());
    }
}
