//! What is kept of one request: its outcome, its attempts and its usage record.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::amount::Amount;
use crate::ids::{KeyId, ProjectId, RequestId, TargetId, TenantId};
use crate::usage::Usage;

/// How a request ended: exactly one per admitted request. JSON and SQL use the same words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Settled by the gateway that served it.
    Final,
    /// Recorded by the reconciler with the last checkpoint, because the gateway was gone.
    Expired,
    /// Nothing was charged.
    RolledBack,
}

impl Outcome {
    /// The word used in JSON and SQL: `final`, `expired` or `rolled_back`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Final => "final",
            Self::Expired => "expired",
            Self::RolledBack => "rolled_back",
        }
    }

    /// Reads the word back; `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Final, Self::Expired, Self::RolledBack].into_iter().find(|outcome| outcome.as_str() == text)
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One try at one target, in the order in which they were made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The target that was tried.
    pub target: TargetId,
    /// The upstream's HTTP status; none if no answer came.
    pub status: Option<u16>,
    /// Until the answer's head, or until the try was given up, in milliseconds.
    pub ms: u64,
    /// Why it failed, without any secret of the provider; none if it served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Everything known about a request but its outcome and charge, which travel beside it to the record transaction.
/// Amounts are written as strings of units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageRecord {
    /// The request, never used twice.
    pub request_id: RequestId,
    /// What the client called it (`x-request-id`).
    pub client_request_id: Option<String>,
    /// Who pays.
    pub tenant_id: TenantId,
    /// The project of the key.
    pub project_id: ProjectId,
    /// The key that called.
    pub key_id: KeyId,
    /// The model that was asked for.
    pub model: String,
    /// The model that served, if another one did (a downgrade, or the upstream's own name for it).
    pub served_model: Option<String>,
    /// What the request was estimated to cost.
    #[serde(with = "units")]
    pub estimate: Amount,
    /// What was frozen at the end, extensions included.
    #[serde(with = "units")]
    pub frozen: Amount,
    /// How often the freeze grew.
    pub extensions: u32,
    /// Tokens by kind, as the upstream reported them, or counted here if [`Self::estimated`].
    pub usage: Usage,
    /// The tries at targets, in order.
    pub attempts: Vec<Attempt>,
    /// The HTTP status of the attempt that served or failed last.
    pub upstream_status: Option<u16>,
    /// True if the upstream reported no usage and the charge rests on the local count.
    pub estimated: bool,
    /// True if the charge passed the freeze.
    pub overrun: bool,
    /// When the request was accepted.
    pub started_at: Option<Timestamp>,
    /// When its freeze was granted.
    pub frozen_at: Option<Timestamp>,
    /// When the upstream's first byte arrived.
    pub first_byte_at: Option<Timestamp>,
    /// When the last byte was sent or the request was given up.
    pub ended_at: Option<Timestamp>,
}

/// An amount as a string of units: exact in every JSON reader, and independent of the tenant's unit.
mod units {
    use serde::{Deserialize, Deserializer, Serializer, de};

    use crate::amount::Amount;

    pub(super) fn serialize<S: Serializer>(amount: &Amount, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(amount)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Amount, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        let units: i64 = text.parse().map_err(de::Error::custom)?;
        Amount::new(units).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn outcomes_are_read_back() {
        for outcome in [Outcome::Final, Outcome::Expired, Outcome::RolledBack] {
            assert_eq!(Outcome::parse(outcome.as_str()), Some(outcome));
            assert_eq!(serde_json::to_value(outcome).unwrap(), outcome.as_str());
        }
        assert_eq!(Outcome::parse("late"), None, "a late row is a correction, not an outcome");
    }

    #[test]
    fn a_record_survives_json() {
        let id = Uuid::from_u128(7);
        let record = UsageRecord {
            request_id: RequestId::from_uuid(id),
            client_request_id: Some("abc".to_owned()),
            tenant_id: TenantId::from_uuid(id),
            project_id: ProjectId::from_uuid(id),
            key_id: KeyId::from_uuid(id),
            model: "m".to_owned(),
            served_model: None,
            estimate: Amount::MAX,
            frozen: Amount::new(12).unwrap(),
            extensions: 1,
            usage: Usage { input: 3, ..Usage::default() },
            attempts: vec![Attempt {
                target: TargetId::from_uuid(id),
                status: None,
                ms: 5,
                error: Some("refused".to_owned()),
            }],
            upstream_status: Some(200),
            estimated: false,
            overrun: false,
            started_at: Some(Timestamp::UNIX_EPOCH),
            frozen_at: None,
            first_byte_at: None,
            ended_at: None,
        };
        let json = serde_json::to_value(&record).unwrap();
        assert_eq!(json["estimate"], "9007199254740991");
        assert_eq!(serde_json::from_value::<UsageRecord>(json).unwrap(), record);
    }
}
