//! Instants as the domain's and as Postgres' (microseconds).

use jiff::Timestamp;
use time::OffsetDateTime;

use crate::Error;

/// Reads a stored instant.
pub(crate) fn read(what: &'static str, at: OffsetDateTime) -> Result<Timestamp, Error> {
    Timestamp::from_nanosecond(at.unix_timestamp_nanos()).map_err(|why| Error::corrupt(what, why))
}

/// An instant to be stored.
pub(crate) fn write(what: &'static str, at: Timestamp) -> Result<OffsetDateTime, Error> {
    OffsetDateTime::from_unix_timestamp_nanos(at.as_nanosecond()).map_err(|why| Error::corrupt(what, why))
}
