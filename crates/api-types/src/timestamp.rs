//! Instants: RFC 3339, always written in UTC.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use time::OffsetDateTime;

/// An instant, `2026-11-30T12:00:00.5Z` in JSON. Any offset is read, UTC is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(OffsetDateTime);

impl From<OffsetDateTime> for Timestamp {
    fn from(at: OffsetDateTime) -> Self {
        Self(at.to_offset(time::UtcOffset::UTC))
    }
}

impl From<Timestamp> for OffsetDateTime {
    fn from(at: Timestamp) -> Self {
        at.0
    }
}

impl Timestamp {
    /// The instant.
    #[must_use]
    pub const fn instant(self) -> OffsetDateTime {
        self.0
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.format(&time::format_description::well_known::Rfc3339).map_err(|_| fmt::Error)?;
        f.write_str(&text)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        time::serde::rfc3339::serialize(&self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let at = time::serde::rfc3339::deserialize(deserializer)?;
        // Postgres and RFC 3339 agree on these years; converting others to UTC could leave the calendar.
        if !(1970..=9998).contains(&at.year()) {
            return Err(serde::de::Error::custom("the year must be between 1970 and 9998"));
        }
        Ok(at.into())
    }
}

#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for Timestamp {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
        ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
            .into()
    }
}
#[cfg(feature = "openapi")]
impl utoipa::ToSchema for Timestamp {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_offset_is_read_and_utc_is_written() {
        let at: Timestamp = serde_json::from_str(r#""2026-11-30T12:00:00.25+08:00""#).unwrap();
        assert_eq!(serde_json::to_string(&at).unwrap(), r#""2026-11-30T04:00:00.25Z""#);
        assert!(serde_json::from_str::<Timestamp>(r#""2026-11-30""#).is_err());
        assert!(serde_json::from_str::<Timestamp>(r#""9999-12-31T23:59:59-23:00""#).is_err());
    }
}
