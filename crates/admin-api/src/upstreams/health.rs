//! How upstreams and targets fare, by what the gateways have reported.

use std::collections::HashMap;
use std::str::FromStr;

use api_types::upstream::Health;
use domain::{TargetId, UpstreamId};
use store::PgConnection;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::error::Result;

/// What is tried last, by any gateway that serves now.
#[derive(Debug, Default)]
pub struct Ill {
    /// Until when these targets are ejected.
    targets: HashMap<TargetId, OffsetDateTime>,
    /// Of which upstreams some target is ejected.
    ejected: HashMap<UpstreamId, OffsetDateTime>,
    /// Until when these upstreams are parked.
    parked: HashMap<UpstreamId, OffsetDateTime>,
}

impl Ill {
    /// Reads the gateways' reports.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn read(conn: &mut PgConnection) -> Result<Self> {
        let mut ill = Self::default();
        let now = OffsetDateTime::now_utc();
        for report in store::reports::all(conn).await?.into_iter().filter(|report| report.is_fresh) {
            collect(&report.health, "targets", now, &mut ill.targets);
            collect(&report.health, "ejected", now, &mut ill.ejected);
            collect(&report.health, "parked", now, &mut ill.parked);
        }
        Ok(ill)
    }

    /// A target's.
    pub fn target(&self, id: TargetId, upstream: UpstreamId) -> Health {
        match () {
            () if self.parked.contains_key(&upstream) => Health::Parked,
            () if self.targets.contains_key(&id) => Health::Ejected,
            () => Health::Well,
        }
    }

    /// An upstream's.
    pub fn upstream(&self, id: UpstreamId) -> (Health, Option<OffsetDateTime>) {
        match self.parked.get(&id) {
            Some(until) => (Health::Parked, Some(*until)),
            None if self.ejected.contains_key(&id) => (Health::Ejected, None),
            None => (Health::Well, None),
        }
    }
}

/// Gateways disagree: the longest counts.
fn collect<I: FromStr + Eq + std::hash::Hash>(
    health: &serde_json::Value,
    kind: &str,
    now: OffsetDateTime,
    into: &mut HashMap<I, OffsetDateTime>,
) {
    for (id, until) in health.get(kind).and_then(serde_json::Value::as_object).into_iter().flatten() {
        let until = until.as_str().and_then(|text| OffsetDateTime::parse(text, &Rfc3339).ok());
        if let (Ok(id), Some(until)) = (id.parse(), until.filter(|until| *until > now)) {
            let longest = into.entry(id).or_insert(until);
            *longest = until.max(*longest);
        }
    }
}
