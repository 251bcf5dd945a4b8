//! Cycles: a kind of period and the day it sticks to.

use jiff::civil::{Date, Time, Weekday};
use jiff::{Timestamp, ToSpan};

use crate::scope::PeriodLabel;

use super::{PeriodKind, Zone};

/// A kind of period with the day on which its periods begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cycle {
    kind: PeriodKind,
    anchor: i16,
}

/// An anchor that does not fit its kind of period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CycleError {
    /// Days begin at midnight.
    #[error("a day takes no anchor")]
    Day,
    /// Not a weekday.
    #[error("the anchor of a week is its first weekday, 1 (Monday) to 7 (Sunday)")]
    Week,
    /// Not a day of the month.
    #[error("the anchor of a month is its billing day, 1 to 31; shorter months begin on their last day")]
    Month,
    /// Not a date.
    #[error("the anchor of a year is month x 100 + day, 101 (1 January) to 1231; 229 is 28 February in common years")]
    Year,
}

/// One period: from `start` up to, not including, `end`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Period {
    /// Names it, such as `m20261101`.
    pub label: PeriodLabel,
    /// Its first instant.
    pub start: Timestamp,
    /// The first instant after it: when its quota resets.
    pub end: Timestamp,
}

impl Cycle {
    /// A cycle of `kind` that begins on `anchor`; without one on the natural day: Monday, the 1st, 1 January.
    ///
    /// # Errors
    /// [`CycleError`] if the anchor does not fit the kind.
    pub fn new(kind: PeriodKind, anchor: Option<i16>) -> Result<Self, CycleError> {
        let (natural, fits, error) = match kind {
            PeriodKind::Day => (0, anchor.is_none_or(|value| value == 0), CycleError::Day),
            PeriodKind::Week => (1, anchor.is_none_or(|value| (1..=7).contains(&value)), CycleError::Week),
            PeriodKind::Month => (1, anchor.is_none_or(|value| (1..=31).contains(&value)), CycleError::Month),
            PeriodKind::Year => (101, anchor.is_none_or(is_date), CycleError::Year),
        };
        if fits { Ok(Self { kind, anchor: anchor.unwrap_or(natural) }) } else { Err(error) }
    }

    /// The cycle whose periods begin on this date's day.
    pub(super) fn sticking_to(kind: PeriodKind, date: Date) -> Self {
        let anchor = match kind {
            PeriodKind::Day => 0,
            PeriodKind::Week => i16::from(date.weekday().to_monday_one_offset()),
            PeriodKind::Month => i16::from(date.day()),
            PeriodKind::Year => i16::from(date.month()) * 100 + i16::from(date.day()),
        };
        Self { kind, anchor }
    }

    /// The kind.
    #[must_use]
    pub const fn kind(self) -> PeriodKind {
        self.kind
    }

    /// The day: 0 for days, a weekday (1 Monday to 7), a day of the month, or month x 100 + day.
    #[must_use]
    pub const fn anchor(self) -> i16 {
        self.anchor
    }

    /// The period that an instant lies in, by the calendar of the zone.
    #[must_use]
    pub fn current(self, zone: &Zone, at: Timestamp) -> Period {
        let mut date = self.floor(zone.civil(at).date());
        // A clock that is set back over midnight shows the evening before again, so the civil date may be one off.
        for _ in 0..3 {
            if at < start_of(zone, date) {
                date = self.previous(date);
            } else if at >= start_of(zone, self.next(date)) {
                date = self.next(date);
            } else {
                break;
            }
        }
        Period { label: self.label(date), start: start_of(zone, date), end: start_of(zone, self.next(date)) }
    }

    /// The last date on which a period begins, on or before `date`.
    pub(super) fn floor(self, date: Date) -> Date {
        let candidate = match self.kind {
            PeriodKind::Day => date,
            PeriodKind::Week => {
                let first = i8::try_from(self.anchor).ok().and_then(|day| Weekday::from_monday_one_offset(day).ok());
                let since = first.map_or(0, |first| date.weekday().since(first));
                date.saturating_sub(i64::from(since).days())
            }
            PeriodKind::Month => self.in_month_of(date),
            PeriodKind::Year => self.in_year_of(date),
        };
        if candidate > date { self.previous(candidate) } else { candidate }
    }

    /// The beginning after the one at `date`.
    pub(super) fn next(self, date: Date) -> Date {
        self.moved(date, 1)
    }

    /// The beginning before the one at `date`.
    pub(super) fn previous(self, date: Date) -> Date {
        self.moved(date, -1)
    }

    fn moved(self, date: Date, periods: i64) -> Date {
        match self.kind {
            PeriodKind::Day => date.saturating_add(periods.days()),
            PeriodKind::Week => date.saturating_add(periods.weeks()),
            PeriodKind::Month => self.in_month_of(date.first_of_month().saturating_add(periods.months())),
            PeriodKind::Year => self.in_year_of(date.first_of_year().saturating_add(periods.years())),
        }
    }

    fn in_month_of(self, date: Date) -> Date {
        on_day(date.year(), date.month(), i8::try_from(self.anchor).unwrap_or(1))
    }

    fn in_year_of(self, date: Date) -> Date {
        let (month, day) = (self.anchor / 100, self.anchor % 100);
        on_day(date.year(), i8::try_from(month).unwrap_or(1), i8::try_from(day).unwrap_or(1))
    }

    fn label(self, date: Date) -> PeriodLabel {
        let letter = match self.kind {
            PeriodKind::Day => 'd',
            PeriodKind::Week => 'w',
            PeriodKind::Month => 'm',
            PeriodKind::Year => 'y',
        };
        let text = format!("{letter}{:04}{:02}{:02}", date.year(), date.month(), date.day());
        PeriodLabel::try_from(text).unwrap_or_else(|_| PeriodLabel::none())
    }
}

/// The day of that month, or its last one if it has fewer.
fn on_day(year: i16, month: i8, day: i8) -> Date {
    let first = Date::new(year, month, 1).unwrap_or(Date::MAX);
    first.with().day(day).build().unwrap_or_else(|_| first.last_of_month())
}

/// True for month x 100 + day of a leap year.
fn is_date(anchor: i16) -> bool {
    let (Ok(month), Ok(day)) = (i8::try_from(anchor / 100), i8::try_from(anchor % 100)) else { return false };
    Date::new(2000, month, day).is_ok()
}

fn start_of(zone: &Zone, date: Date) -> Timestamp {
    zone.instant(date.to_datetime(Time::midnight()))
}
