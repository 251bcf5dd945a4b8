//! What was used: sums, and usage metered elsewhere.

use domain::{KeyId, ProjectId, RequestId, TenantId, Unit};

use crate::{Decimal, Numbers, Timestamp};

words! {
    /// What usage is summed by.
    pub enum Bucket {
        /// An hour.
        Hour = "hour",
        /// A day.
        Day = "day",
        /// A month.
        Month = "month",
    }
}

reply! {
    /// Sums of usage. Buckets are whole, so the first may begin before what was asked for and the last end after it.
    pub struct UsagePage {
        /// What it is summed by.
        pub bucket: Bucket,
        /// The zone whose calendar the buckets follow.
        pub time_zone: String,
        /// The first instant of the first bucket.
        pub from: Timestamp,
        /// The first instant after the last bucket.
        pub to: Timestamp,
        /// The sums, by bucket, then tenant, project, key and model. What was not used has no entry.
        pub items: Vec<UsageSum>,
        /// Given back as `cursor` for the page that follows; null at the end.
        pub next_cursor: Option<String>,
    }

    /// What was used in one bucket.
    pub struct UsageSum {
        /// The bucket's first instant. A request counts where it was recorded, a late correction where it was booked.
        pub bucket: Timestamp,
        /// The tenant; null unless grouped by it.
        pub tenant_id: Option<TenantId>,
        /// The project; null unless grouped by it.
        pub project_id: Option<ProjectId>,
        /// The key; null unless grouped by it.
        pub key_id: Option<KeyId>,
        /// The model asked for; null unless grouped by it.
        pub model: Option<String>,
        /// What the charge counts: tenants metered in credits and in tokens are never summed together.
        #[cfg_attr(feature = "openapi", schema(value_type = String, example = "credit"))]
        pub unit: Unit,
        /// Requests that were admitted, those that were charged nothing included.
        pub requests: i64,
        /// Requests that were not admitted.
        pub refused: i64,
        /// Prompt tokens, cached ones included.
        pub prompt_tokens: i64,
        /// Of them, read from a cache.
        pub cached_tokens: i64,
        /// Answer tokens, reasoning included.
        pub completion_tokens: i64,
        /// Charged: the exact sum of the settlements.
        pub charge: Decimal,
        /// Set aside and given back without a charge.
        pub refunded: Decimal,
        /// Requests whose tokens were counted here because the upstream reported none.
        pub estimated: i64,
    }

    /// Usage that was charged.
    pub struct Ingested {
        /// Under which it is recorded.
        pub request_id: RequestId,
        /// What was charged.
        pub charge: Decimal,
        /// The tenant's numbers after it.
        pub quota: Numbers,
        /// Whether every gateway decides by it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub in_force: Option<bool>,
    }
}

request! {
    /// Usage metered elsewhere: either its tokens, charged at the model's price, or the charge itself.
    pub struct Ingest {
        /// The key that it is charged to.
        pub key_id: KeyId,
        /// The model.
        pub model: String,
        /// What was used.
        pub usage: Option<IngestUsage>,
        /// What it costs, in the tenant's unit.
        pub charge: Option<Decimal>,
        /// The caller's id of it: charged once per key.
        pub reference: String,
        /// When it was used; decides the price.
        pub occurred_at: Timestamp,
    }

    /// Counts by kind; none is part of another: a cached token is not in `input`.
    #[derive(Copy, Default)]
    pub struct IngestUsage {
        /// Prompt tokens that were neither cached nor audio.
        #[serde(default)]
        pub input: u64,
        /// Prompt tokens read from a cache.
        #[serde(default)]
        pub cached_input: u64,
        /// Prompt tokens written to a 5 minute cache.
        #[serde(default)]
        pub cache_write_5m: u64,
        /// Prompt tokens written to a 1 hour cache.
        #[serde(default)]
        pub cache_write_1h: u64,
        /// Answer tokens that were neither reasoning nor audio.
        #[serde(default)]
        pub output: u64,
        /// Reasoning tokens.
        #[serde(default)]
        pub reasoning: u64,
        /// Prompt tokens of audio.
        #[serde(default)]
        pub audio_input: u64,
        /// Answer tokens of audio.
        #[serde(default)]
        pub audio_output: u64,
        /// Images made.
        #[serde(default)]
        pub images: u64,
    }
}
