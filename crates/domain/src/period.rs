//! Periods: days, weeks, months and years in a tenant's own time zone, true to its calendar.
//!
//! The zone rules are compiled in, so that every service and the console see the same instants wherever they run.
//! Periods of one cycle follow each other without gap or overlap, over clock changes too.

mod buckets;
mod cycle;
mod renewal;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

pub use buckets::BucketKind;
pub use cycle::{Cycle, CycleError, Period};
pub use renewal::Renewal;

use crate::scope::PeriodLabel;

/// How long a period is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PeriodKind {
    /// A calendar day.
    Day,
    /// Seven days.
    Week,
    /// A calendar month, or from a billing day to the next.
    Month,
    /// A calendar year, or from a date to the next.
    Year,
}

impl PeriodKind {
    /// The word used in JSON and SQL.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Year => "year",
        }
    }

    /// Reads the word back; `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Day, Self::Week, Self::Month, Self::Year].into_iter().find(|kind| kind.as_str() == text)
    }
}

/// True where a budget's period is the present one of its kind, by the calendar of the zone; also where it has no periods.
#[must_use]
pub fn is_present(label: &PeriodLabel, zone: &Zone, at: Timestamp) -> bool {
    let kinds = [PeriodKind::Day, PeriodKind::Week, PeriodKind::Month, PeriodKind::Year];
    let cycles = kinds.into_iter().filter_map(|kind| Cycle::new(kind, None).ok());
    *label == PeriodLabel::none() || cycles.into_iter().any(|cycle| cycle.current(zone, at).label == *label)
}

/// A text that names no time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a time zone of the IANA database such as \"Asia/Shanghai\" or \"UTC\"")]
pub struct ZoneError;

/// A time zone of the IANA database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone(TimeZone);

impl Zone {
    /// Finds a zone by its name.
    ///
    /// # Errors
    /// [`ZoneError`] for unknown names; offsets such as `+08:00` and abbreviations that are no IANA names are refused.
    pub fn parse(name: &str) -> Result<Self, ZoneError> {
        let zone = TimeZone::get(name).map_err(|_| ZoneError)?;
        if zone.is_unknown() || zone.iana_name().is_none() {
            return Err(ZoneError);
        }
        Ok(Self(zone))
    }

    /// Coordinated universal time.
    #[must_use]
    pub const fn utc() -> Self {
        Self(TimeZone::UTC)
    }

    /// Its name, written as in the database.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// The instant at which this zone's calendar and clock show what `other`'s show at `at`.
    #[must_use]
    pub fn same_civil_time(&self, other: &Self, at: Timestamp) -> Timestamp {
        self.instant(other.civil(at))
    }

    fn civil(&self, at: Timestamp) -> DateTime {
        self.0.to_datetime(at)
    }

    /// The instant of a civil time. One that a clock change leaves out is moved on by the length of the change, one that
    /// comes twice means the first; beyond the calendar's ends, the end.
    fn instant(&self, civil: DateTime) -> Timestamp {
        let end = if civil.year() < 0 { Timestamp::MIN } else { Timestamp::MAX };
        self.0.to_timestamp(civil).unwrap_or(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_iana_names() {
        for name in ["UTC", "Asia/Shanghai", "Asia/Kathmandu", "America/New_York", "Etc/GMT+8"] {
            assert_eq!(Zone::parse(name).unwrap().name(), name);
        }
        for name in ["", "+08:00", "Mars/Olympus", "Etc/Unknown", "Asia", "../etc/passwd", "local"] {
            assert_eq!(Zone::parse(name), Err(ZoneError), "{name}");
        }
        assert_eq!(Zone::utc().name(), "UTC");
    }

    #[test]
    fn a_period_is_present_until_the_next_begins() {
        let zone = Zone::parse("Asia/Shanghai").unwrap();
        let at: Timestamp = "2026-11-30T15:59:59Z".parse().unwrap();
        let later: Timestamp = "2026-11-30T16:00:00Z".parse().unwrap();
        for (label, now, then) in [
            ("-", true, true),
            ("m20261101", true, false),
            ("d20261130", true, false),
            ("y20260101", true, true),
            ("w20261123", false, false),
        ] {
            let label = PeriodLabel::try_from(label.to_owned()).unwrap();
            assert_eq!((is_present(&label, &zone, at), is_present(&label, &zone, later)), (now, then), "{label:?}");
        }
    }
}
