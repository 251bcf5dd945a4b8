//! Limits beside the quota: the same object on tenant, project and key.

use domain::LimitName;

use crate::{Decimal, Timestamp};

reply! {
    /// Limits of one level; null: none.
    #[derive(Default)]
    pub struct Limits {
        /// Requests per minute, in any 60 seconds.
        pub rpm: Option<u64>,
        /// Requests per day, in any 24 hours.
        pub rpd: Option<u64>,
        /// Tokens per minute.
        pub tpm: Option<u64>,
        /// Tokens per day.
        pub tpd: Option<u64>,
        /// Requests running at once.
        pub in_flight: Option<u64>,
        /// The most that one request may set aside, in the tenant's unit.
        pub max_per_request: Option<Decimal>,
    }

    /// How far one limit of a key is used up.
    pub struct LimitWindow {
        /// Which limit.
        #[cfg_attr(feature = "openapi", schema(value_type = String, example = "rpm"))]
        pub name: LimitName,
        /// The limit; of `max_per_request` in the tenant's unit.
        pub limit: Decimal,
        /// What counts against it now.
        pub used: Decimal,
        /// What is left, never below zero.
        pub remaining: Decimal,
        /// When nothing counts against a rate any more if nothing is added; null where nothing does, or for the others.
        pub resets_at: Option<Timestamp>,
    }
}
