//! Upstream accounts.

use domain::UpstreamId;

use crate::Timestamp;

words! {
    /// How it fares, as the gateways see it.
    pub enum Health {
        /// No gateway sees a fault.
        Well = "well",
        /// A gateway tries it last after failures.
        Ejected = "ejected",
        /// A gateway found the account out of funds.
        Parked = "parked",
    }

    /// Whose API an upstream speaks.
    pub enum UpstreamKind {
        /// OpenAI's, or one compatible with it.
        Openai = "openai",
        /// Anthropic's.
        Anthropic = "anthropic",
    }
}

request! {
    /// Adds an upstream.
    pub struct CreateUpstream {
        /// Name.
        pub name: String,
        /// Whose API it speaks.
        pub kind: UpstreamKind,
        /// Such as `https://api.openai.com/v1`.
        pub base_url: String,
        /// The provider's key; sealed, and never part of a reply. Null: the upstream wants none.
        pub api_key: Option<String>,
        /// Milliseconds to connect, 1 to 60000; 5000 unless said otherwise.
        pub connect_timeout_ms: Option<i32>,
        /// Milliseconds without a byte, 1 to 3600000; 120000 unless said otherwise.
        pub read_timeout_ms: Option<i32>,
    }

    /// Changes an upstream. Absent fields stay.
    pub struct ChangeUpstream {
        /// Name.
        pub name: Option<String>,
        /// Base URL.
        pub base_url: Option<String>,
        /// A new provider's key; null removes it.
        #[serde(default, deserialize_with = "crate::wire::present", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
        pub api_key: Option<Option<String>>,
        /// Milliseconds to connect.
        pub connect_timeout_ms: Option<i32>,
        /// Milliseconds without a byte.
        pub read_timeout_ms: Option<i32>,
    }
}

reply! {
    /// An upstream.
    pub struct Upstream {
        /// Id.
        pub id: UpstreamId,
        /// Name.
        pub name: String,
        /// Whose API it speaks.
        pub kind: UpstreamKind,
        /// Base URL.
        pub base_url: String,
        /// The last characters of the provider's key; null: none.
        pub key_hint: Option<String>,
        /// + 1 per new key.
        pub key_version: i32,
        /// Milliseconds to connect.
        pub connect_timeout_ms: i32,
        /// Milliseconds without a byte.
        pub read_timeout_ms: i32,
        /// `well`; `parked` while a gateway found its account out of funds; `ejected` while one of its targets is tried last.
        pub health: Health,
        /// Until when its targets are tried last for want of funds; null: they are not.
        pub parked_until: Option<Timestamp>,
        /// When it was added.
        pub created_at: Timestamp,
        /// + 1 per change; the ETag.
        pub version: i64,
    }
}
