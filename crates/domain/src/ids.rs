//! Ids: a prefix that says the kind, then a UUIDv7 as 26 characters of Crockford base32 (lower case).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// A text that is no id of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an id of the form {prefix}_ followed by 26 characters")]
pub struct IdError {
    /// The prefix that was expected.
    pub prefix: &'static str,
}

fn encode(id: Uuid) -> String {
    let mut value = id.as_u128();
    let mut text = [b'0'; 26];
    for slot in text.iter_mut().rev() {
        let index = usize::try_from(value & 31).unwrap_or_default();
        *slot = ALPHABET[index];
        value >>= 5;
    }
    text.iter().map(|byte| char::from(*byte)).collect()
}

fn decode(text: &str) -> Option<Uuid> {
    if text.len() != 26 {
        return None;
    }
    let mut value: u128 = 0;
    for (index, byte) in text.bytes().enumerate() {
        let digit = ALPHABET.iter().position(|candidate| *candidate == byte)?;
        if index == 0 && digit > 7 {
            return None; // 26 characters hold 130 bits
        }
        value = (value << 5) | u128::try_from(digit).ok()?;
    }
    Some(Uuid::from_u128(value))
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// What stands before the underscore.
            pub const PREFIX: &'static str = $prefix;

            /// Wraps the UUID read from Postgres.
            #[must_use]
            pub const fn from_uuid(id: Uuid) -> Self {
                Self(id)
            }

            /// The UUID as Postgres stores it.
            #[must_use]
            pub const fn uuid(self) -> Uuid {
                self.0
            }

            /// A new id of the present instant (UUIDv7).
            #[cfg(feature = "generate")]
            #[must_use]
            pub fn generate() -> Self {
                Self(Uuid::now_v7())
            }
        }

        #[cfg(feature = "openapi")]
        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                utoipa::openapi::ObjectBuilder::new()
                    .schema_type(utoipa::openapi::schema::Type::String)
                    .pattern(Some(concat!("^", $prefix, "_[0-7][0-9a-hjkmnp-tv-z]{25}$")))
                    .into()
            }
        }

        #[cfg(feature = "openapi")]
        impl utoipa::ToSchema for $name {
            fn name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "_{}"), encode(self.0))
            }
        }

        impl FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                text.strip_prefix(concat!($prefix, "_")).and_then(decode).map(Self).ok_or(IdError { prefix: $prefix })
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}

ids! {
    /// A tenant.
    TenantId = "t";
    /// A project of a tenant.
    ProjectId = "p";
    /// An API key of a project.
    KeyId = "k";
    /// A grant of quota.
    GrantId = "g";
    /// A model offered to tenants.
    ModelId = "m";
    /// A target that serves a model.
    TargetId = "tr";
    /// An upstream account.
    UpstreamId = "up";
    /// A webhook endpoint.
    WebhookId = "wh";
    /// An event.
    EventId = "evt";
    /// A delivery of an event to a webhook endpoint.
    DeliveryId = "dl";
    /// A service token.
    ServiceTokenId = "st";
    /// A person.
    UserId = "usr";
    /// An alert.
    AlertId = "al";
    /// A request of the data plane; never used twice.
    RequestId = "req";
    /// A change of quota by a delta.
    QuotaChangeId = "qc";
    /// A signed-in session.
    SessionId = "ses";
    /// A shared pool.
    PoolId = "pool";
    /// A comparison of Redis and Postgres.
    ReconciliationId = "rec";
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn text_and_uuid_agree(value in proptest::num::u128::ANY) {
            let id = RequestId::from_uuid(Uuid::from_u128(value));
            proptest::prop_assert_eq!(id.to_string().len(), 30);
            proptest::prop_assert_eq!(id.to_string().parse::<RequestId>().unwrap(), id);
        }
    }

    #[test]
    fn other_texts_are_refused() {
        let id = TenantId::from_uuid(Uuid::from_u128(7)).to_string();
        assert!(id.parse::<TenantId>().is_ok());
        assert!(id.parse::<KeyId>().is_err());
        assert!(id.to_uppercase().parse::<TenantId>().is_err());
        assert!("t_80000000000000000000000000".parse::<TenantId>().is_err());
        assert!("t_".parse::<TenantId>().is_err());
    }
}
