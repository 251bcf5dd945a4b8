//! Renewals of a plan: at any instant, sticking to its day and time of day.

use jiff::Timestamp;
use jiff::civil::Time;

use super::{Cycle, CycleError, PeriodKind, Zone};

const MICROS_PER_SECOND: i64 = 1_000_000;

/// When a plan renews: once per period, on the cycle's day, at a time of day in the tenant's zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Renewal {
    cycle: Cycle,
    time: Time,
}

impl Renewal {
    /// The renewal that repeats the day and time of `renews_at`. A plan first renewed on the 31st stays on the 31st, or
    /// the last day of shorter months: keep the result rather than deriving it again from a later renewal.
    #[must_use]
    pub fn sticking_to(kind: PeriodKind, zone: &Zone, renews_at: Timestamp) -> Self {
        let civil = zone.civil(renews_at);
        Self { cycle: Cycle::sticking_to(kind, civil.date()), time: civil.time() }
    }

    /// Puts a stored renewal together: the cycle's anchor and the microseconds since midnight.
    ///
    /// # Errors
    /// [`CycleError`] if the anchor does not fit the kind. Microseconds beyond a day mean midnight.
    pub fn from_parts(kind: PeriodKind, anchor_day: i16, micros_of_day: i64) -> Result<Self, CycleError> {
        let seconds = micros_of_day.div_euclid(MICROS_PER_SECOND);
        let part = |value: i64| i8::try_from(value).unwrap_or(-1);
        let nanos = i32::try_from(micros_of_day.rem_euclid(MICROS_PER_SECOND) * 1_000).unwrap_or(0);
        let time = Time::new(part(seconds / 3_600), part(seconds / 60 % 60), part(seconds % 60), nanos);
        Ok(Self { cycle: Cycle::new(kind, Some(anchor_day))?, time: time.unwrap_or_default() })
    }

    /// The day that it sticks to: see [`Cycle::anchor`].
    #[must_use]
    pub const fn anchor_day(self) -> i16 {
        self.cycle.anchor()
    }

    /// The time of day that it sticks to, in microseconds since midnight.
    #[must_use]
    pub fn micros_of_day(self) -> i64 {
        let time = self.time;
        let seconds = i64::from(time.hour()) * 3_600 + i64::from(time.minute()) * 60 + i64::from(time.second());
        seconds * MICROS_PER_SECOND + i64::from(time.subsec_nanosecond() / 1_000)
    }

    /// The first renewal after `after`, never at it. Over a clock change the time of day is kept; one that is left out
    /// is moved on by the length of the change.
    #[must_use]
    pub fn next_after(self, zone: &Zone, after: Timestamp) -> Timestamp {
        let mut date = self.cycle.previous(self.cycle.floor(zone.civil(after).date()));
        // Two periods back at most (the one begun before, and a clock set back over midnight), so five steps suffice.
        for _ in 0..5 {
            let renewal = zone.instant(date.to_datetime(self.time));
            if renewal > after {
                return renewal;
            }
            date = self.cycle.next(date);
        }
        Timestamp::MAX
    }
}
