//! Prices of a model: append-only, superseded by a later `valid_from`.

use std::collections::BTreeMap;

use crate::{Decimal, Factor, Timestamp};

request! {
    /// Adds a price. Credits per 1 000 000 tokens; `image` and `per_request` each. A kind left out costs what its base
    /// kind costs; free of charge is an explicit "0".
    pub struct CreatePrice {
        /// From when; null: now. In the past for a model's first price only.
        pub valid_from: Option<Timestamp>,
        /// Prompt tokens.
        pub input: Option<Decimal>,
        /// Prompt tokens read from the upstream's cache.
        pub cached_input: Option<Decimal>,
        /// Prompt tokens written to the upstream's cache for 5 minutes.
        pub cache_write_5m: Option<Decimal>,
        /// Prompt tokens written to the upstream's cache for an hour.
        pub cache_write_1h: Option<Decimal>,
        /// Answer tokens.
        pub output: Option<Decimal>,
        /// Thinking tokens.
        pub reasoning: Option<Decimal>,
        /// Audio prompt tokens.
        pub audio_input: Option<Decimal>,
        /// Audio answer tokens.
        pub audio_output: Option<Decimal>,
        /// One image.
        pub image: Option<Decimal>,
        /// One request.
        pub per_request: Option<Decimal>,
        /// Tenants metered in tokens: the weight of each kind, 1 unless said otherwise.
        pub token_weights: Option<BTreeMap<String, Factor>>,
    }
}

reply! {
    /// A price, in credits per 1 000 000 tokens (`image`, `per_request`: each).
    pub struct Price {
        /// From when.
        pub valid_from: Timestamp,
        /// Prompt tokens.
        pub input: Option<Decimal>,
        /// Prompt tokens read from the upstream's cache.
        pub cached_input: Option<Decimal>,
        /// Prompt tokens written to the upstream's cache for 5 minutes.
        pub cache_write_5m: Option<Decimal>,
        /// Prompt tokens written to the upstream's cache for an hour.
        pub cache_write_1h: Option<Decimal>,
        /// Answer tokens.
        pub output: Option<Decimal>,
        /// Thinking tokens.
        pub reasoning: Option<Decimal>,
        /// Audio prompt tokens.
        pub audio_input: Option<Decimal>,
        /// Audio answer tokens.
        pub audio_output: Option<Decimal>,
        /// One image.
        pub image: Option<Decimal>,
        /// One request.
        pub per_request: Option<Decimal>,
        /// Tenants metered in tokens: the weight of each kind.
        pub token_weights: Option<BTreeMap<String, Factor>>,
        /// When it was added.
        pub created_at: Timestamp,
    }
}
